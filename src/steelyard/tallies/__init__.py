"""The sums of a run, and how they come about where nobody holds the rows: share by share, file by file, day by day.

Start with ``tally.py``; ``summing.py`` goes through rows that are too many to be held, ``merging.py`` adds up
what is saved.
"""
