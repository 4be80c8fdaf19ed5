"""From scores to decisions: what thresholds achieve, which to take, and how rows are assigned by it.

Start with ``decisions.py``.
"""
