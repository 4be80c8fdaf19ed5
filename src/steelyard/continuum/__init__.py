"""Classes that are cut from a value measured with error (Mevik 2003), and what can be known of the error.

Start with ``kernels.py``, the mathematics, and ``judged.py``, what formulas may ask for; ``evaluation.py`` makes values
and influences of them. ``response.py``, ``deviations.py`` and ``population.py`` find what must be known beside what was
measured.
"""
