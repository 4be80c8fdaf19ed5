"""What classifiers say of rows that they were not fitted to, found without a fit for every part that is left out."""
