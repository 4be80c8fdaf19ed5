"""Sums in place of rows, where there are too many to keep them in memory.

``recipe.py`` says what is asked of the rows, ``summary.py`` what is kept of them, and ``second_pass.py`` for what they
are read again. Saved forms are in ``storing.py``.
"""
