"""What a comparison says: the order of classifiers by each measure, and in words who beats whom, or is as good."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import evened
from ..core.columns import as_number
from ..core.errors import BadOption, harmless, quoted
from ..core.scale import Continuum, listed
from ..core.table import Table
from ..core.text import HUGE, MOST_DECIMALS, TINY, isolated, number
from ..measures import listed_names
from ..measures.registry import Measure
from .comparison import BOTH_INFINITE, Comparison

if TYPE_CHECKING:
    from .assessment import Assessment
    from .comparison import Comparison


def ranking_table(comparison: Comparison, measures: str | Measure | Iterable[str | Measure]) -> Table:
    """The classifiers from the best to the worst by each measure.

    Args:
        comparison: The classifiers.
        measures: By what they are ranked: measures that have a better end.

    Returns:
        A tidy table with the columns measure, rank, model, value, low, high. Equal values share the better rank; a
        classifier of which a measure is undefined comes last and has none.
    """
    if not isinstance(comparison, Comparison):
        raise BadOption(f"{quoted(comparison)} is no comparison", mend="Give what compare() returns")
    rows: list[dict[str, Any]] = []
    for measure in comparison.find_measures(measures):
        rows += sorted(_ranked(comparison.assessments, measure), key=lambda row: row["place"])
    return Table({name: [row[name] for row in rows] for name in ("measure", "rank", "model", "value", "low", "high")})


# --- how classifiers stand by several measures ----------------------------------------------------------------------


ESTIMATES = ("error", "adjusted_error", "smoothed_error", "guarded_error")
BOUNDS = ("true_error_low", "true_error_high")
REFERENCES = ("label_error", "minimal_error", "model_minimal_error")
OF_A_CONTINUUM = ("error", "adjusted_error", "apparent_sqerr", "adjusted_sqerr")
OF_SCORES = ("error", "auc", "log_score")

ELSE = {"error": "accuracy"}  # what says the same, where it alone was asked for

Names = Iterable[str | Measure]


def computed(assessment: Assessment, names: Sequence[str]) -> list[str]:
    """Those of some measures that were computed."""
    known = {measure.name for measure in assessment.settings.measures}
    return [name for name in names if name in known]


def usual_measures(assessment: Assessment) -> list[str]:
    """Those of the usual measures that were computed; accuracy counts as error does, where only that was."""
    names = OF_A_CONTINUUM if isinstance(assessment.tally.scale, Continuum) else OF_SCORES
    wanted = [name if computed(assessment, [name]) else ELSE.get(name, name) for name in names]
    return computed(assessment, wanted)


def title(assessment: Assessment, measure: Measure) -> str:
    """How a measure is shown. Against measured values the error is only an apparent one."""
    if measure.name == "error" and isinstance(assessment.tally.scale, Continuum):
        return "apparent error"
    return measure.label if measure.changed else measure.title


def error_tables(assessments: Mapping[str, Assessment], measures: Names | None = None) -> dict[str, Table]:
    """Estimates of the error, the bounds that hold for it without any model, and what it can be held against.

    Columns: part (estimate, bound or reference), measure, title, value, low, high, note. If no measures are named, all
    of the usual estimates that were computed. References are the same for all classifiers, and so computed once.
    """
    first = next(iter(assessments.values()))
    named = computed(first, ESTIMATES) if measures is None else listed_names(measures)
    references = _errors(first, "reference", computed(first, REFERENCES))
    return {
        name: _below([*_errors(each, "estimate", named), *_errors(each, "bound", BOUNDS), *references])
        for name, each in assessments.items()
    }


def _errors(assessment: Assessment, part: str, names: Sequence[str | Measure]) -> list[dict[str, Any]]:
    """Some measures of one classifier, a row each."""
    rows = []
    for name in names:
        measure, found = assessment.find(name), assessment[name]
        shown = title(assessment, measure)
        if measure.name.startswith("guarded"):
            shown += f" ({found.note.partition(':')[0]})"
        facts = {"part": part, "measure": measure.label, "title": shown, "value": found.value}
        rows.append({**facts, "low": found.low, "high": found.high, "note": found.note})
    return rows


def _below(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows below each other."""
    return Table({column: [row[column] for row in rows] for column in rows[0]})


def standing_table(assessments: Mapping[str, Assessment], measures: Names | None = None) -> Table:
    """The place of every classifier by every measure, one a row; the best has the first place.

    Columns: model, measure, title, better, value, low, high, rank, place. Equal values have equal ranks; where one is
    undefined it has none, and the last place.
    """
    first = next(iter(assessments.values()))
    if len(assessments) < 2:
        raise BadOption("a ranking needs two classifiers", mend="Compare at least two")
    named = usual_measures(first) if measures is None else listed_names(measures)
    entries = {entry.label: entry for entry in map(first.find, named)}
    if not entries:
        raise BadOption("there is no measure to rank by", mend="Name at least one: ranking(['accuracy'])")
    return _below([row for entry in entries.values() for row in _ranked(assessments, entry)])


def _ranked(assessments: Mapping[str, Assessment], measure: Measure) -> list[dict[str, Any]]:
    """All classifiers by one measure."""
    measure.with_better_end()
    found = {name: each[measure] for name, each in assessments.items()}
    ranks = ranked({name: one.value for name, one in found.items()}, lower=measure.better == "lower")
    order = list(ranks)
    shown = title(next(iter(assessments.values())), measure)
    facts = {"measure": measure.label, "title": shown, "better": measure.better}
    rows = []
    for name, one in found.items():
        place = order.index(name) + 1
        numbers = {"value": one.value, "low": one.low, "high": one.high, "rank": ranks[name], "place": place}
        rows.append({"model": name, **facts, **numbers})
    return rows


def best_first(assessments: Mapping[str, Assessment]) -> tuple[Measure | None, list[str]]:
    """The first measure that has a better end, and the classifiers by it, the best first; as they are without one."""
    measures = next(iter(assessments.values())).settings.measures
    measure = next((entry for entry in measures if entry.better != "neither"), None)
    if measure is None:
        return None, list(assessments)
    losses = {name: measure.loss(each[measure].value) for name, each in assessments.items()}
    return measure, sorted(assessments, key=lambda name: (math.isnan(losses[name]), losses[name]))


# --- ranks of names -------------------------------------------------------------------------------------------------


Ranks = Mapping[str, int | None]


def ranked(values: Mapping[str, float], lower: bool = True) -> dict[str, int | None]:
    """The rank of each name by its value, best first; equal values share a rank, and what is undefined has none."""
    losses = np.array([value if lower else -value for value in values.values()])
    turned = dict(zip(values, evened(losses).tolist(), strict=True))
    order = sorted(turned, key=lambda name: (np.isnan(turned[name]), turned[name]))
    ahead = {name: sum(other < turned[name] for other in turned.values()) for name in order}
    return {name: None if np.isnan(turned[name]) else 1 + ahead[name] for name in order}


def in_words(ranks: Ranks) -> str:
    """A ranking as papers print it: ``qda < lda < 3-nn = tree``."""
    names = list(ranks)
    signs = ["", *[" = " if ranks[a] == ranks[b] else " < " for a, b in pairwise(names)]]
    return "".join(sign + name for sign, name in zip(signs, names, strict=True))


def swapped(one: Ranks, other: Ranks) -> set[frozenset[str]]:
    """The pairs of names that two rankings have the other way round; what has no rank is in none."""
    places = {name: (one[name], other.get(name)) for name in one}
    known = [(name, a, b) for name, (a, b) in places.items() if a is not None and b is not None]
    return {frozenset((x[0], y[0])) for x, y in combinations(known, 2) if (x[1] - y[1]) * (x[2] - y[2]) < 0}


Named = str | Measure | Iterable[str | Measure] | None
Margin = float | Mapping[str | Measure, float] | None
Row = Mapping[str, Any]

ENDS = {"lower": "lowest", "higher": "highest"}
AMOUNTS = {"lower": "less", "higher": "more"}
REST = {"equivalent": "{} is as good as", "neither": "can't be told apart from", "undefined": "can't be compared with"}
MOST_WITH_NUMBERS = 4  # of more, only the names are said; the table has the numbers
MOST_NAMED = 8  # classifiers in one sentence: of more, table() tells which they are


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Which classifiers differ by which measures. Printed, it is a sentence or a few; ``table()`` has the numbers.

    Attributes:
        rows: The table behind the words.
        models: The classifiers.
        titles: How each measure is called.
        first: Who comes out first by each measure; None where nobody has a value.
        margins: Up to where a difference by a measure does not matter, where that was said.
        level: Classifiers differ where the adjusted p-value is at most one less this.
    """

    rows: Table
    models: tuple[str, ...]
    titles: Mapping[str, str]
    first: Mapping[str, str | None]
    margins: Mapping[str, float]
    level: float

    def table(self) -> Table:
        """All pairs by all measures.

        Columns: measure, better (its better end), a, b, difference (a - b), low, high, p, p_adjusted (Holm's, over all
        pairs by the same measure), verdict ("a" or "b" for the better one, "neither" where they cannot be told apart,
        "equivalent" where the interval lies within the margin, "undefined") and note (why it is undefined).
        """
        return self.rows

    def words(self, *, numbers: bool = True) -> str:
        """Say it in words, with the differences, intervals and p-values or without them."""
        said = self.clauses(numbers=numbers)
        return "; ".join(said) + "." if len(self.models) == 2 else "\n".join(f"{clause}." for clause in said)

    def clauses(self, *, numbers: bool = True) -> list[str]:
        """The same apart, measure by measure, without stops."""
        by_measure = {label: [row for row in self.rows if row["measure"] == label] for label in self.titles}
        if len(self.models) == 2:
            return [self._of_two(rows[0], place == 0, numbers) for place, rows in enumerate(by_measure.values())]
        return [self._of_many(label, rows, numbers) for label, rows in by_measure.items()]

    def _of_two(self, row: Row, opening: bool, numbers: bool) -> str:
        """One clause a measure; the first one names the classifiers, the others lean on it."""
        ahead, behind = _ahead(row)
        they = f"{called(row['a'])} and {called(row['b'])}" if opening else "they"
        owner = "" if row["difference"] == 0 else f"{called(ahead)} has "
        detail, within = owner + self._numbers(row, ahead), ""
        match row["verdict"]:
            case "a" | "b":
                they, said = called(ahead), f"beats {called(behind)}"
                detail = self._numbers(row, ahead)
            case "equivalent":
                said, within = "are as good as each other", f" (within {self.margins[row['measure']]:g})"
            case "neither":
                said = "can't be told apart"
            case _:
                said, detail = "can't be compared", harmless(row["note"])
        by = f"by {self.titles[row['measure']]}"
        clause = f"{they} {said} {by}{within}" if opening else f"{by} {they} {said}{within}"
        return f"{clause}: {detail}" if numbers else clause

    def _of_many(self, label: str, rows: Sequence[Row], numbers: bool) -> str:
        """One sentence a measure: the first one, and how it stands to all others."""
        first = self.first[label]
        held = [row for row in rows if first in (row["a"], row["b"])]
        if first is None or all(row["verdict"] == "undefined" for row in held):
            why = "all are infinite" if {row["note"] for row in rows} == {BOTH_INFINITE} else harmless(rows[0]["note"])
            return f"nobody can be compared by {self.titles[label]}" + f": {why}" * numbers
        reasons = numbers and sum(row["verdict"] == "undefined" for row in held) <= MOST_WITH_NUMBERS
        numbers = numbers and len(held) <= MOST_WITH_NUMBERS
        named = {
            kind: self._others(held, first, kind, reasons if kind == "undefined" else numbers)
            for kind in ("beaten", *REST)
        }
        within = f"within {self.margins.get(label, 0.0):g}"
        rest = [f"{REST[kind].format(within)} {names}" for kind, names in named.items() if kind in REST and names]
        beaten = f": it beats {named['beaten']}" if named["beaten"] else ""
        head = f"{called(first)} has the {ENDS[held[0]['better']]} {self.titles[label]}{_with_equals(held, first)}"
        return head + beaten + (f", but {' and '.join(rest)}" if rest else "") + self._family(rows)

    @staticmethod
    def _family(rows: Sequence[Row]) -> str:
        """Over how many comparisons the p-values of a measure are adjusted."""
        size = sum(not math.isnan(row["p_adjusted"]) for row in rows)
        return f" (Holm over {size:,} comparisons)" if size > 1 else ""

    def _others(self, rows: Sequence[Row], first: str, kind: str, numbers: bool) -> str:
        """All to whom the first one stands in one way, with the numbers if they are asked for; many are counted."""
        names = []
        for row in rows:
            other = row["b"] if row["a"] == first else row["a"]
            found = "beaten" if row["verdict"] in ("a", "b") else row["verdict"]
            if found == kind:
                why = row["note"] if kind == "undefined" else self._numbers(row, first)
                names.append(called(other) + (f" ({harmless(why)})" if numbers else ""))
        return _together(names, len(rows))

    def _numbers(self, row: Row, who: str) -> str:
        """By how much one of two is better, with interval and p-value."""
        sign = -1.0 if (row["better"] == "lower") == (who == row["a"]) else 1.0
        low, high = sorted((sign * row["low"], sign * row["high"]))
        amount, *ends = rounded(sign * row["difference"], low, high)
        said = "no difference" if row["difference"] == 0 else f"{amount} {AMOUNTS[row['better']]}"
        adjusted = "Holm p" if len(self.models) > 2 else "p"
        interval = "" if math.isinf(low) and low == high else f" [{', '.join(ends)}]"  # what is infinite for good
        return f"{said}{interval}, {adjusted} {p_value(row['p_adjusted'], 1 - self.level)}"

    def __str__(self) -> str:
        """The words, with numbers."""
        return self.words()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(f"<p>{html.escape(line)}</p>" for line in self.words().splitlines())


def _with_equals(rows: Sequence[Row], first: str) -> str:
    """Who has the same value as the first one, and is second by nothing but the order of the classifiers."""
    equals = [called(row["b"] if row["a"] == first else row["a"]) for row in rows if row["difference"] == 0]
    return f", as {'has' if len(equals) == 1 else 'have'} {_together(equals, len(rows))}" if equals else ""


def _together(names: Sequence[str], all_others: int) -> str:
    """Names in a sentence; many are counted."""
    if len(names) > MOST_NAMED:
        return f"all {len(names):,} others" if len(names) == all_others else f"{len(names):,} others"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def judge(comparison: Comparison, measures: Named = None, margin: Margin = None) -> Verdict:
    """Hold all pairs of a comparison against each other; see `Comparison.verdict`."""
    if len(comparison.models) < 2:
        raise BadOption("a verdict needs two classifiers", mend="Compare at least two")
    assessment = comparison[comparison.models[0]]
    entries = comparison.find_measures(usual(comparison) if measures is None else measures)
    for entry in entries:
        entry.with_better_end()
    margins = _margins(comparison, entries, margin)
    known = {entry.label: entry for entry in entries}
    rows = [_row(comparison, known[row["measure"]], row, margins) for row in comparison.differences(entries)]
    return Verdict(
        rows=_below(rows),
        models=comparison.models,
        titles={entry.label: harmless(title(assessment, entry)) for entry in entries},
        first={entry.label: _first(comparison, entry) for entry in entries},
        margins=margins,
        level=comparison.settings.level,
    )


def usual(comparison: Comparison) -> list[str | Measure]:
    """By what to judge where nobody says so: the usual measures that were computed, else all with a better end."""
    assessment = comparison[comparison.models[0]]
    found: list[str | Measure] = [*usual_measures(assessment)]
    return found or [entry for entry in comparison.settings.measures if entry.better != "neither"]


def spoken(comparison: Comparison, measure: str | None = None) -> Verdict | None:
    """The verdict that every output shows: by the usual measures, and first by one that was named.

    None where there is one classifier, or no measure with a better end.
    """
    if len(comparison.models) < 2 or all(entry.better == "neither" for entry in comparison.settings.measures):
        return None
    if measure is None or comparison.find_measures(measure)[0].better == "neither":
        return comparison.verdict()
    return comparison.verdict([measure, *usual(comparison)])


def judged_first(comparison: Comparison) -> str:
    """The measure whose differences are shown where none is named: the first asked for that the verdict judges by."""
    names = usual(comparison)
    judged = {entry.label for entry in comparison.find_measures(names)} if names else set()
    every = [entry.label for entry in comparison.settings.measures]
    return next((label for label in every if label in judged), every[0])


def told_verdict(comparison: Comparison, measure: str | None = None) -> dict[str, Any]:
    """The same for JSON: the sentences, and the table behind them."""
    said = spoken(comparison, measure)
    return {} if said is None else {"words": said.words().splitlines(), "rows": said.table().to_json()}


def _margins(comparison: Comparison, entries: Sequence[Measure], margin: Margin) -> dict[str, float]:
    """The margin of every measure that has one."""
    if margin is None:
        return {}
    labels = [entry.label for entry in entries]
    if isinstance(margin, Mapping):
        given = {comparison.find_measures(name)[0].label: value for name, value in margin.items()}
    else:
        given = dict.fromkeys(labels, margin)
    for label, value in given.items():
        if label not in labels:
            raise BadOption(f"there is a margin for {quoted(label)}", mend=f"Measures are {listed(labels)}")
        if not 0 < as_number(value) < math.inf:
            raise BadOption(f"the margin is {quoted(value)}", mend="Give a number above 0, as in margin=0.02")
    return {label: float(value) for label, value in given.items()}


def _row(comparison: Comparison, entry: Measure, row: Row, margins: Mapping[str, float]) -> dict[str, Any]:
    """A difference with what is to be said of it."""
    facts = {"measure": row["measure"], "better": entry.better}
    kept = {name: row[name] for name in ("a", "b", "difference", "low", "high", "p", "p_adjusted")}
    kind = _kind(row, entry, margins.get(entry.label), 1 - comparison.settings.level)
    return {**facts, **kept, "verdict": kind, "note": row["note"] if kind == "undefined" else ""}


def _kind(row: Row, entry: Measure, margin: float | None, chance: float) -> str:
    """What is to be said of a difference. What does not matter is not a victory, however sure it is."""
    if math.isnan(row["difference"]) or math.isnan(row["p_adjusted"]):
        return "undefined"
    if margin is not None and -margin <= row["low"] and row["high"] <= margin:
        return "equivalent"
    if row["p_adjusted"] > chance or row["difference"] == 0:
        return "neither"
    return "a" if (row["difference"] < 0) == (entry.better == "lower") else "b"


def _first(comparison: Comparison, entry: Measure) -> str | None:
    """Who comes out first, if anybody has a value."""
    known = any(not math.isnan(comparison[name][entry].value) for name in comparison.models)
    return comparison.best(entry) if known else None


def called(name: str) -> str:
    """The name of a classifier in a sentence: nothing in it acts, and it turns no number around."""
    return isolated(harmless(name))


def _ahead(row: Row) -> tuple[str, str]:
    """Who of two has the better value, and who the other is."""
    a_is = row["difference"] <= 0 if row["better"] == "lower" else row["difference"] >= 0
    return (row["a"], row["b"]) if a_is else (row["b"], row["a"])


# --- numbers in sentences ---------------------------------------------------------------------------------------


def rounded(value: float, low: float, high: float) -> list[str]:
    """A value and the ends of its interval with as many decimals as two digits of the half-width need."""
    half, size = high / 2 - low / 2, max(abs(low), abs(high))
    if not 0 < half < math.inf:
        return [number(one + 0.0) for one in (value, low, high)]
    least = 1 - math.floor(math.log10(half))
    if size >= HUGE or size < TINY:  # by powers of ten, as in tables
        digits = max(3, least + math.floor(math.log10(size)) + 1)
        return [f"{one + 0.0:.{digits}g}" for one in (value, low, high)]
    decimals = min(MOST_DECIMALS, max(0, least))
    # Adding nothing takes the sign off a nought.
    return [f"{round(one, decimals) + 0.0:,.{decimals}f}" for one in (value, low, high)]


def p_value(p: float, chance: float) -> str:
    """As ``= .01`` or ``< .001``, with enough decimals to see on which side of the allowed chance it lies."""
    least = min(0.001, chance)
    if p < least:
        return f"< {f'{least:g}'.removeprefix('0')}"
    shown = [f"{p:.{digits}f}" for digits in range(2 if p >= 0.1 else 3, 10)]
    right = next((text for text in shown if (float(text) <= chance) == (p <= chance)), shown[-1])
    if p < 1 and float(right) == 1:
        return "> .99"
    short = right if 0.1 <= p < 1 else right.rstrip("0").rstrip(".")
    return f"= {short.removeprefix('0')}"
