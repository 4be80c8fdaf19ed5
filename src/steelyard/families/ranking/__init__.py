"""Measures of scores: rows are sorted once by the score of a class, and all else are sums in that order.

Start with the head of ``evaluation.py``. One class against the rest is in ``one_against_rest.py``, the variance in
``spread_of`` of ``measures/masses.py``, and averages over classes in ``counted.py``.
"""
