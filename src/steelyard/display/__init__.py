"""Finished results as text, tables, pictures and HTML.

Results come in; text, figures and one HTML file go out. This room computes no statistic: each number that it shows
was computed below it.
"""
