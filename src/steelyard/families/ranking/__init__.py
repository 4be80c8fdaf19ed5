"""Measures of scores: rows are sorted once by the score of a class, and all else are sums in that order.

Start with the head of ``evaluation.py``. One class against the rest is in ``one_against_rest.py``, the variance in
``spread_of`` of ``maths/sides.py``, and averages over classes are ``Average`` of ``counted.py``. What a second pass
over rows that were let go tells of the variance is in ``factor_sides.py``.
"""
