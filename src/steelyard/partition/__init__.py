"""Memberships scaled so that classifiers of all kinds can be compared (Sondhauss & Weihs 2001), and their pictures.

Start with ``scaling.py``, the mathematics; ``space.py`` tells how far rows are from the corners of the simplex, and
``evaluation.py`` makes values and influences of that.
"""
