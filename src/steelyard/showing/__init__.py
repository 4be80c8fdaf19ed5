"""Results as tables of finished text, and as what pictures are filled with: no arithmetic.

Start with ``grids.py``; terminals, notebooks and Markdown draw its grids, each in its own way.
"""
