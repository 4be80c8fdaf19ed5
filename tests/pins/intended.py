"""Changes of pinned behaviour that are intended.

Each entry is a pattern of ``data set/way/table/row/field``, in which ``*`` stands for any text, and the reason. In the
full check, each must match a difference: entries that match nothing any more are removed.
"""

_AS_IN_MEMORY = "rankings of rows that are not kept have the pseudo-observations that the same rows have in memory"
_RANKINGS = ("auc", "average_precision", "partial_auc", "h_measure", "hand_till_auc")

STREAMED = "forecasts of rows that were summed feel pseudo-rows as those in memory do, so that the numbers are the same"
SCORES = (
    *("brier", "log_score", "ranked_probability_score", "zero_one_score", "spherical_score"),
    *("skill", "net_benefit", "top_k"),
)

INTENDED: list[tuple[str, str]] = [
    *[(f"forecasts*/streamed/differences/{score}*", STREAMED) for score in SCORES],
    ("forecasts*/streamed/differences/decision_cost*", STREAMED),
    *[(f"forecasts*/streamed/estimates/* {score}*", STREAMED) for score in SCORES],
    ("forecasts*/streamed/training/*", STREAMED),
    ("forecasts*/merged/estimates/* brier weighted/*", STREAMED),
    ("forecasts/saved/estimates/* brier weighted/*", STREAMED),
    (
        "*/differences/partial_auc(corrected=False,*",
        "its values end below 1: differences are judged by the log odds of the share of its range, as intervals are",
    ),
    *[
        (f"*/streamed/differences/{name}*/{field}", _AS_IN_MEMORY)
        for name in _RANKINGS
        for field in ("low", "high", "p", "p_adjusted")
    ],
    *[(f"*/streamed/estimates/* {name}*/{field}", _AS_IN_MEMORY) for name in _RANKINGS for field in ("low", "high")],
]
