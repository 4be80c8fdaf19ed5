"""Measures of probabilities: scored row by row, and compared with frequencies in bins.

Start with ``columns.py``, the scores of each row, and ``calibration.py``, the bins.
"""
