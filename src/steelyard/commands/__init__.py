"""The rooms of the command line, one file a group of commands; ``options.py`` holds what they have in common."""
