"""Measures of probabilities: scored row by row, and held against frequencies in bins.

Start with ``columns.py``, what rows are worth, and ``evaluation.py``; ``calibration.py`` is about
bins, ``reliability.py`` about curves without any.
"""
