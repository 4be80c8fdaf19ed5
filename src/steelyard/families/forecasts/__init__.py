"""Measures of probabilities that are scored row by row. Start with ``columns.py``, the scores of each row."""
