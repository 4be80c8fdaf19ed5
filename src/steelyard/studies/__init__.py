"""The source documents, each as a run that reproduces its numbers and figures.

Designs and seeds come in; statements with their Monte Carlo intervals go out. A study uses the rooms below as users do,
and computes nothing that a room below computes.
"""
