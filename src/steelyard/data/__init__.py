"""Tables in pieces: files, folders and data frames as batches of columns, and the engines that work on them.

Names of files, filters and data frames come in; batches of columns, digests and finished files go out. This room knows
no classes, no classifiers and no measures.
"""
