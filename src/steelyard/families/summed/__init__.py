"""The same measures from sums, where there are too many rows to keep them in memory.

Start with ``summary.py``, what is kept, and ``summed.py``, what all families share.
"""
