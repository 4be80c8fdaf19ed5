"""From influences to variances to intervals, once for all measures; and bounds for the few that need more than that.

Start with ``variances.py``, then ``intervals.py``.
"""
