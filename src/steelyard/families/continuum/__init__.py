"""Measures of classes that are cut from a value measured with error (Mevik 2003).

Start with ``judged.py``, the arguments that formulas take; ``evaluation.py`` makes values and influences of them.
"""
