"""What users hold: assessments, comparisons, decisions, curves.

Tallies come in; results with estimates, intervals and verdicts go out. This room draws nothing: ``accessors.py`` loads
pictures and reports from the rooms above when a result is asked for them.
"""
