"""What measures are made of: tables of counts, rankings, forecasts, calibration, the continuum, partition spaces.

States come in; values and influences of many measures at once go out. This room knows the arguments that formulas
take, but no formula, and it knows neither files nor results.
"""
