"""McNemar's test: of two classifiers on the same cases, which one was right where the other was wrong."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.columns import as_number
from ..core.errors import BadOption, quoted
from ..core.suggestions import refuse_unknown

MOST_ROWS = 1e15  # beyond, counts are no longer told apart


@dataclass(frozen=True)
class McNemar:
    """A test of whether two classifiers err equally often on the same cases.

    Attributes:
        only_a: Rows that only the first gets right.
        only_b: Rows that only the second gets right.
        statistic: Chi-squared with one degree of freedom; NaN for the exact tests.
        p: Two-sided p-value.
        method: Which form of the test.
    """

    only_a: float
    only_b: float
    statistic: float
    p: float
    method: str


def _count(name: str, number: object) -> float:
    found = as_number(number)
    if not 0 <= found < MOST_ROWS:
        raise BadOption(f"{name} is {quoted(number)}", mend="Give a number of rows, 0 or above")
    return found


def mcnemar(only_a: float, only_b: float, method: str = "auto") -> McNemar:
    """McNemar's test (1947) on the discordant counts.

    Args:
        only_a: Rows that only the first gets right.
        only_b: Rows that only the second gets right.
        method: "exact" (binomial), "mid-p" (Fagerland, Lydersen & Laake 2013), "corrected" (chi-squared with
            continuity correction, as R's mcnemar.test), "chi-squared" (without), or "auto": exact below 25
            discordant rows, corrected from there on; without correction where counts are not whole.
    """
    from scipy.special import bdtr, chdtrc  # scipy.stats would take longer to load than all else takes

    known = ("auto", "exact", "mid-p", "corrected", "chi-squared")
    refuse_unknown("method", method, known)
    only_a, only_b = (_count(name, number) for name, number in (("only_a", only_a), ("only_b", only_b)))
    total, smaller = only_a + only_b, min(only_a, only_b)
    if method == "auto":
        whole = float(only_a).is_integer() and float(only_b).is_integer()
        method = ("exact" if total < 25 else "corrected") if whole else "chi-squared"
    if method in ("exact", "mid-p"):
        if only_a != round(only_a) or only_b != round(only_b):
            raise BadOption("the exact tests need whole counts", mend="Use 'chi-squared' with weights")
        up_to = float(bdtr(smaller, int(total), 0.5)) if total else 1.0
        below = up_to
        if method == "mid-p":  # half of what is as likely as the counts themselves
            below = float(bdtr(smaller - 1, int(total), 0.5)) if smaller else 0.0
        return McNemar(only_a, only_b, float("nan"), min(1.0, up_to + below), method)
    gap = abs(only_a - only_b) - (1.0 if method == "corrected" else 0.0)
    statistic = max(gap, 0.0) ** 2 / total if total else 0.0
    return McNemar(only_a, only_b, statistic, float(chdtrc(1, statistic)), method)
