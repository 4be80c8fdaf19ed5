"""Rows that were too many to be held."""
