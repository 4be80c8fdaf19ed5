"""Numerical methods on bare arrays.

Arrays of numbers come in, and arrays or numbers go out. This room knows no labels, no measures and no files; its
callers have checked what they pass.
"""
