"""Several classifiers on the same cases, or on many data sets: differences, tests, ranks, and what to say of them.

Start with ``comparison.py``; ``across.py`` is about many data sets.
"""
