"""The source documents, each as a run that reproduces its numbers and figures."""
