"""Memberships scaled so that classifiers of all kinds can be compared (Sondhauss & Weihs 2001).

Start with ``scaling.py``, the mathematics; ``space.py`` has the distances of rows from the corners of the simplex, and
``evaluation.py`` makes values and influences of them.
"""
