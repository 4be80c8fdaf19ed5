"""From values and influences to intervals, for all measures.

Values, the influences of observations and the facts of a measure come in; standard errors, bounds and p-values go out.
This room knows no formula and no file: it asks the families for what it needs.
"""
