"""What the library computes, pinned: all numbers and texts of some eighty made-up data sets, at 17 digits.

``python -m tests.pins --check`` lists what differs from the pins, and ``--write`` makes them again. A change that is
intended goes into ``intended.py`` with its reason.
"""
