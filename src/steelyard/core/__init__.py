"""What every room needs: errors, columns, scales, tables, estimates, text, threads.

In come values of any kind; out go arrays, tables and messages that the rooms above share. This room knows no measure,
no classifier and no file.
"""
