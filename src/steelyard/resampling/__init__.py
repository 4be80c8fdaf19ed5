"""From estimators to verdicts: rows are left out, classifiers fitted to the others, and what they say is assessed."""
