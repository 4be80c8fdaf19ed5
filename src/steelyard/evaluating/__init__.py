"""From sums to values and influences: for all measures at once, and without knowing any of their formulas.

Start with ``evaluation.py``, for counts. What is made of rows builds on ``row_evaluation.py``, in a room for each
family: ranking, forecasts, continuum and partition all have an ``evaluation.py`` of their own.
"""
