"""Simulations that hold estimates against the truth, on data whose truth is known."""
