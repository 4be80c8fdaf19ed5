"""Every check of what users give.

Labels, probabilities, scores, weights and clusters come in as users have them; coded columns that are known to be sound
go out, with notes on how they were read. This room knows no measure: after it nothing is checked again.
"""
