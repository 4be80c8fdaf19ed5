"""Files into columns: which files a name stands for, what lies in them, and their rows a batch at a time.

Start with ``sources.py``, which turns a data frame or a file into columns; ``streams.py`` does so without holding it.
"""
