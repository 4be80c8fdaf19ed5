"""From batches of rows to a tally: what the first pass collects, and which later passes are needed.

Batches, an engine and the wanted measures come in; tallies that can be added, subtracted and saved go out. This room
knows which states a family needs, but no formula and no interval.
"""
