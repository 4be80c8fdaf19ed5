"""Calibration errors: gaps between forecasts and frequencies, in bins of like forecasts.

Start with ``evaluation.py``, the bins and what follows from them; ``gaps.py`` knows how far gaps are beyond chance.
"""
