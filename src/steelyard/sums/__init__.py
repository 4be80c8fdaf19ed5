"""What is kept of rows: sums of patterns, where rows of one pattern are alike; else the rows, or counts on a grid.

Start with ``statistics.py``, the closed set of what measures may be made of.
"""
