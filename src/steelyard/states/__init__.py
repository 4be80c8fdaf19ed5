"""What is kept of rows: sums of patterns where rows of one pattern are alike, else the rows or counts on a grid.

Checked columns come in; states that can be added go out. This room knows no formula and no interval.
"""
