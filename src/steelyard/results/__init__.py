"""What results have in common: today, what they offer that is built above them."""
