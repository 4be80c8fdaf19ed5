"""What is kept of rows that are too many to be held: sums, and scores to the nearest mark of a ruler."""
