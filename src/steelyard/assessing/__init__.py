"""One classifier, weighed: every measure with its interval. Start with ``assessment.py``."""
