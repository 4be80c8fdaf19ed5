"""Most differences: judged where pseudo-observations are added to the joint table.

Agresti & Min (2005), Statistics in Medicine 24, 729-740, do so for proportions.
"""

from __future__ import annotations

from . import ContrastRule


class SmoothedContrast(ContrastRule):
    """So many standard errors around the difference of the centres, and the t statistic of that difference."""


SMOOTHED = SmoothedContrast()
