"""Measures of scores: rows are sorted once by the score of a class, and everything else are sums in that order.

Start with ``order.py``, which sorts; ``evaluation.py`` makes values and influences of it, ``curves.py`` what is drawn.
"""
