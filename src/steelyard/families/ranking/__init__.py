"""Measures of scores: rows are sorted once by the score of a class, and all else are sums in that order.

Start with ``one_against_rest.py``: values and influences of one class against the rest.
"""
