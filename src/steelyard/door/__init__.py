"""The door: what users hand in is checked here, once, and nothing behind it checks again.

Start with ``cases.py``: what comes out of it is one batch of rows that is right. The others know one kind
of input each.
"""
