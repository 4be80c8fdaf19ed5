"""One classifier, weighed: every measure with its interval.

Start with ``assessment.py``; ``evaluated.py`` is what it looks things up in, ``parts.py`` makes columns of them.
"""
