"""Writes what the code itself can tell: the page of measures, the table of errors, the changelog, papers' statements.

``python docs/generate.py`` writes what is stale; with ``--check`` it names what is stale and exits with 1. The page of
the papers takes a minute: ``python docs/generate.py --papers`` runs the studies and writes it.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from steelyard import all_measures
from steelyard.cli import main as steelyard
from steelyard.cli import requirements
from steelyard.core import errors
from steelyard.display.listing import ALWAYS, explain, glossary, material, parted
from steelyard.inference.averages import MEANS_OF_CLASSES
from steelyard.inference.rules import rule_of
from steelyard.measures.registry import AVERAGES, Measure
from steelyard.states.statistics import CONFUSION
from steelyard.studies.statements import ours

DOCS = Path(__file__).resolve().parent
WRITTEN_BY = "<!-- Written by docs/generate.py: change the source and run it. -->"
BEGIN, END = "<!-- errors: begin -->", "<!-- errors: end -->"

MEASURES_HEAD = """# Measures

Most measures are made of one table of counts, whose rows are the true classes and whose columns are the assigned
ones. Two kinds of formula are made of it:

- **of a class**: the class against the rest, by the letters `TP` (of the class and assigned to it), `FN` (of the
  class, assigned elsewhere), `FP` (of another class, assigned to it) and `TN` (neither);
- **of the table**: by `correct` (its diagonal), `true` (its row sums), `assigned` (its column sums) and `total`; `N` is
  the table itself and `C` the number of classes.

Three more kinds are made of the scores, where a classifier gave any:

- **of the ranking**: the class against the rest, sorted by the score of the class; `s+` is the score of a row of
  the class and `s-` that of one of the rest. [Ranking and thresholds](ranking.md) tells more;
- **of forecasts**: the mean over the rows of what a probability forecast is worth, or what is made of two such means;
  `p_g` is the probability of class `g`, `y_g` is 1 where that class is the true one and 0 elsewhere, `p_y` is the
  probability of the true class, and `P_k` and `Y_k` are sums of them up to class `k`.
  [Probability forecasts](forecasts.md) tells more;
- **of calibration**: forecasts against frequencies, in bins of rows with like forecasts; `gap` is the mean forecast of
  a bin less the frequency there, `share` its share of the rows, and `noise` what chance alone makes of the mean
  squared gap.

A measure of a class has a value for every class and three averages over the classes. `macro` is the mean over the
classes for which the measure is defined; a note says which were left out. `weighted` is the same mean with the rows
of each true class as weights. `micro` is the formula on the sum of all the 2×2 tables of a class against the rest
(there is none for rankings, forecasts and calibration). The overall value, `result["sensitivity"]`, is the event's
where there is an event, else the `macro` average.

A measure of the table has a value for every class too, `result["kappa", "yes"]`, except where it needs a matrix
(`weighted_kappa`, `cost`): that of the 2×2 table of the class against the rest. A score of all classes, such as
`log_score`, has one value.

An undefined value is NaN, and its note gives the reason that stands below. `undefined=0` puts a number in its place,
`undefined="error"` raises.

**Computed if asked.** Where nobody names measures, all are computed but two sorts. Measures whose parameters have no
value, such as `costs=None`, must be given one: `measures=["precision_at(prevalence=0.02)"]`, or `cost={...}`. Those for
special purposes are left out of the table, and are there as soon as somebody asks: in `measures=[...]`, or later, of an
assessment for which no measures were named, as `result["hand_till_auc"]`.

The names that papers, lectures and other programs give these measures are in the [glossary](#glossary).
[Uncertainty](uncertainty.md) explains the intervals. The same list in a terminal: `steelyard measures`.
"""

INTERVALS = {
    "Wilson": "Wilson",
    "delta, logit scale": "delta method on the logit scale",
    "delta, Fisher scale": "delta method on Fisher's z scale",
    "delta, log scale": "delta method on the log scale",
    "delta, log scale of 1 - value": "delta method on the log scale of 1 - value",
    "Fieller": "Fieller's, of the ratio of two scores",
    "noncentral chi-squared": "noncentral chi-squared, by the mean squared gap",
    "t": "t with n - 1 degrees of freedom",
    "Hall's t": "t, corrected for skewness (Hall 1992)",
    "Wilson, moved": "Wilson, of the share of errors, moved to the value",
    "Wilson, added": "Wilson, of hits and of false alarms, put together by squares (Newcombe 1998)",
    "gamma": "gamma, of rare amounts (Fay & Feuer 1997)",
}

# What to do about each error; its docstring says what is wrong.
MENDS = {
    "SteelyardError": "Catch it to catch them all.",
    "EmptyInput": "Check the filter or the file; a table needs a count above 0.",
    "UnequalLengths": "Give every column one value a row.",
    "MisalignedRows": "Bring the rows into one order: `prediction.loc[truth.index]`; if they are, give `.to_numpy()`.",
    "WrongShape": "Labels or scores are (n,), memberships (n, C) with one column a class.",
    "MissingValues": 'Fill the value in, or say `missing="drop"`; the rows that were left out are counted.',
    "UnknownLabel": "Check the spelling, or put the label on the scale.",
    "UnusableLabels": "Labels are text, whole numbers or booleans, of one kind throughout.",
    "NotNumbers": "Give numbers, not text that looks like them.",
    "SwappedArguments": "The truth comes first: `assess(y_true, prediction)`.",
    "EventNeeded": 'Name the class that the score speaks for, `event="yes"`, or give one column a class.',
    "AmbiguousPrediction": "Give labels as integers, say `threshold=0.5` for probabilities, or name the columns.",
    "ChangedInput": "Give a copy of an array, or look at its results first; wait until a file is written to its end.",
    "OutsideUnitInterval": "Standardise margins and votes first; a score on another scale needs `threshold=`.",
    "SumNotOne": "Divide each row by its sum; `standardise` makes probabilities of others; or give the assigned class.",
    "OneClass": 'Name every class that can occur: `scale=Scale(["no", "yes"])`.',
    "DuplicateClasses": "Name each class once.",
    "UnknownColumn": "Check the name; the message offers the nearest, or lists what there is.",
    "DuplicateColumns": "Rename all but one.",
    "UnboundClasses": "Give one column a class, bound by name: `{class: column}`.",
    "BadWeights": "Weights are finite, 0 or above, and not all 0; frequency weights are whole numbers.",
    "BadTable": "One row and one column a class, counts of 0 or above.",
    "BadCosts": "Give a finite cost for every kind of mistake: `{true: {assigned: cost}}`.",
    "BadBoundaries": "Give increasing numbers, one fewer than classes, or one more at each end.",
    "BadDeviation": "A standard deviation is a finite number, 0 or above.",
    "TooFewRows": "Give more rows, groups or replicates, or a method that needs fewer.",
    "NoVariance": "Give a regressor whose `predict` takes `return_std=True`, or say `spread='residual'`.",
    "BadNoise": "Give a number, or a distribution with `cdf` and `sf`, such as `scipy.stats.t(4, scale=0.3)`.",
    "OutsideContinuum": "Leave the outer boundaries out, and the outer classes reach to infinity.",
    "UnknownMeasure": "`steelyard measures` lists all names; the message offers the nearest.",
    "UndefinedValue": "Look at the reason in the message, or leave `undefined=` at NaN.",
    "NoThreshold": "Loosen the condition; the message says how near any threshold comes.",
    "StraddlingGroups": "Keep groups together: `cv=10` with `groups=` does, or `GroupKFold`.",
    "FailedFits": "The message has what the first fit said; look at X and y as the classifier would.",
    "UnknownModel": "The message lists the names that there are.",
    "UnknownPart": "The message lists the parts that there are. It is a `KeyError` too.",
    "BadOption": "The message says what the option may be.",
    "UnknownOption": "The message says what it is called here, or how the function is called. It is a `TypeError` too.",
    "UnreadableFile": "Check the name, the folder and the ending of the file.",
    "TooLarge": "Leave out what needs all rows at once; the rest is summed as files are read. Or filter: `where=`.",
    "LostWorker": "Give each worker more memory, start fewer of them, or work here: leave `engine=` and `n_jobs=` out.",
    "BadFilter": 'Write it like `where="year == 2024 and score >= 0.5"`; see [Rows that count](input.md#filter).',
    "UnwritableFile": "Check the folder and its permissions, name another file, or say `overwrite=True`.",
    "FailedWrite": "Make room on the disk, and run it again; what was there before is still there.",
    "ForeignFile": "Check the name; read an older file with the release that wrote it.",
    "DamagedFile": "Make the tally or the scaling again.",
    "UnlikeTallies": "Add tallies of the same classifiers on the same classes, made the same way.",
    "OverlappingTallies": "Leave one of them out, or count its rows twice: `merge(tallies, allow_overlap=True)`.",
    "BadRequirement": "Write it like `sensitivity[yes].low >= 0.8`; see [the command line](cli.md#requirements).",
}

PAPERS_HEAD = """# The papers' statements

The documents behind steelyard define measures, and they also say what comes out: figures, orders of classifiers, and
words such as "practically unbiased". Four studies run their examples again. Each study ends in a table that compares
every statement with the results of the run. `--json` writes the table too, under `statements`.

## How a verdict is reached

A statement says in which range some quantity lies. The run estimates this quantity with a 95% confidence interval. The
verdict follows from the two by one rule, and is never written by hand:

| verdict | rule |
|---|---|
| holds | the whole interval lies within the range |
| does not hold | the whole interval lies outside |
| not settled | the interval reaches over an end of the range; in brackets is how many repetitions would settle it |
| other data | the figure is of data that are not public, so that other data cannot contradict it |

- A printed figure means half a unit of its last digit on either side: .38 is the range from .375 to .385.
- "Negligible", "practically", "hardly" and "about" mean less than 5% of the true value.
- "Can", "may" and "on one data set" hold as soon as the run has found a case. Our figure is the share of such cases.
- A number without an interval is exact: chance has no part in it.
- Each interval describes the chance of the repetitions, by itself. Of a hundred true statements, a few will not hold.

Every study starts its random numbers at a fixed seed, and `--seed` changes it. `--full` makes 1,000 repetitions, which
settles more statements and takes minutes. The tables below are those of the default sizes.
"""

# By the command: the title, and what is run.
STUDIES = {
    "mevik2003": (
        "Mevik (2003): the simulation",
        "100 data sets are drawn in each of nine cells, which differ in the standard deviations of the response and of "
        "the measurements. The paper's estimates are compared with the true errors of the classifiers. "
        "[Classes from a continuum](continuum.md) explains the estimates.",
    ),
    "meat": (
        "Mevik (2003): the meat",
        "Five classifiers of the Tecator data are cross-validated on 20 splits. The paper's 103 samples are not "
        "public, so that only orders are judged. [Classes from a continuum](continuum.md) explains the measures.",
    ),
    "partitions": (
        "Sondhauss & Weihs (2001): partition spaces",
        "100 data sets are drawn from three chi-squared classes, and three rules assign their objects. What scaling "
        "does to many objects is tried with 10 draws of 100,000. "
        "[Partition spaces](partitions.md) explains the measures.",
    ),
    "knn": (
        "Ross: performance assessment",
        "The irises are dealt into ten folds 50 times. How much cross-validated errors scatter is tried with 1,000 "
        "data sets from normal classes with the means and covariances of the irises. "
        "[From estimators to verdicts](resampling.md) explains cross-validation.",
    ),
}
VERDICTS = ("holds", "does not hold", "not settled", "other data")
PAPER_NAMES = ("Mevik 2003, ", "Sondhauss & Weihs 2001, ", "Ross, ")  # which the headings of the sections name
STATEMENT_COLUMNS = ("statement", "source", "paper", "ours", "verdict")


def escaped(text: str) -> str:
    """Text as Markdown shows it, not as it obeys it."""
    for sign in "\\`*_<>[]|":
        text = text.replace(sign, f"\\{sign}")
    return text


def titled(measure: Measure) -> str:
    """The title as a heading begins."""
    return measure.title[0].upper() + measure.title[1:]


def sayings(measure: Measure) -> str:
    """What a measure says: the sentence, its formula as code, and what else there is to know."""
    sentence, formula, aside, more = parted(measure)
    said = escaped(sentence)
    if formula:
        said += f": `{formula}`{'; ' if aside else ''}{escaped(aside)}."
    return f"{said}\n\n{escaped(more)}" if more else said


def interval(measure: Measure) -> str:
    """How the intervals of a measure are made: of a class or the table, then of averages where they differ."""
    own = INTERVALS[rule_of(measure.facts).method]
    if not measure.per_class:
        return own
    averages = AVERAGES if measure.statistic is CONFUSION else MEANS_OF_CLASSES
    averaged = {average: INTERVALS[rule_of(measure.facts, average).method] for average in averages}
    others = {method: [name for name, used in averaged.items() if used == method] for method in averaged.values()}
    apart = [f"{' and '.join(names)}: {method}" for method, names in others.items() if method != own]
    return "; ".join([own, *apart])


def facts(measure: Measure) -> Iterable[tuple[str, str]]:
    """What is known of a measure beyond its formula."""
    known = explain(measure)
    aliases = ", ".join(f"`{name}`" for name in (*measure.aliases, *measure.cautions))
    chance = "" if measure.chance is None else measure.chance
    yield "Name", f"`{measure.name}`" + (f"; also {aliases}" if aliases else "")
    yield "Other meanings", escaped(known["beware"])
    yield "With a class", escaped(known["with a class"])
    yield "Of", known["of"]
    yield "Computed", "" if known["computed"] == ALWAYS else known["computed"]
    yield "Better", known["better"]
    yield "Span", known["span"]
    yield "By chance", chance if isinstance(chance, str) else f"{chance:g}"
    yield "Parameters", f"`{known['parameters']}`" if known["parameters"] else ""
    yield "Undefined when", escaped(known["undefined"])
    yield "Interval", interval(measure)
    yield "Difference", "MOVER from two intervals; the test is of the ratio" if measure.contrast == "ratio" else ""
    yield "Source", escaped(known["source"])


def section(measure: Measure) -> str:
    """All about one measure."""
    lines = [f"- **{name}:** {fact}" for name, fact in facts(measure) if fact]
    return "\n".join([f"## {titled(measure)} {{ #{measure.name} }}", "", sayings(measure), "", *lines, ""])


def overview(measures: Iterable[Measure]) -> str:
    """Every measure in a line."""
    lines = ["| measure | better | span | of | computed | interval |", "|---|---|---|---|---|---|"]
    for measure in measures:
        known, own = explain(measure), INTERVALS[rule_of(measure.facts).method]
        cells = [known["better"], known["span"], material(measure), known["computed"], own]
        lines.append(f"| [`{measure.name}`](#{measure.name}) | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


GLOSSARY_HEAD = """## Glossary { #glossary }

Names that measures go by elsewhere, in alphabetical order. `find`, `result["..."]`, `--measures` and `--require`
understand all that have a measure beside them, with blanks, hyphens or underscores, in capitals or not. Names from the
literature are written as they are there, and hats as `_hat`. A result that is asked for by a name with an entry under
"here" has that entry as a note.
"""


def glossary_lines() -> str:
    """Every other name of a measure, and what there is to know about it."""
    lines = ["| name | measure | here | from |", "|---|---|---|---|"]
    for row in glossary():
        measure = f"[`{row['measure']}`](#{row['measure']})" if row["measure"] else "–"
        lines.append(f"| `{row['name']}` | {measure} | {escaped(row['note'])} | {escaped(row['source'])} |")
    return "\n".join([*lines, ""])


def measures_page() -> str:
    """The page of all measures."""
    measures = list(all_measures().values())
    parts = [overview(measures), *map(section, measures), GLOSSARY_HEAD, glossary_lines()]
    return "\n".join([WRITTEN_BY, "", MEASURES_HEAD, *parts])


def error_classes() -> list[type[errors.SteelyardError]]:
    """Every error that there is, in the order in which errors.py tells them."""
    found = [*vars(errors).values(), requirements.BadRequirement]
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, errors.SteelyardError)]


def errors_table() -> str:
    """Every error with what it means and what to do."""
    lines = [BEGIN, "| error | meaning | mend |", "|---|---|---|"]
    for kind in error_classes():
        meaning = " ".join((inspect.getdoc(kind) or "").split())
        lines.append(f"| `{kind.__name__}` | {escaped(meaning)} | {MENDS[kind.__name__]} |")
    return "\n".join([*lines, END])


def input_page() -> str:
    """The page on input with its table of errors made anew."""
    before, _, rest = (DOCS / "input.md").read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{errors_table()}{after}"


def changelog_page() -> str:
    """The changelog, which lives at the root of the repository."""
    return f"{WRITTEN_BY}\n\n{(DOCS.parent / 'CHANGELOG.md').read_text(encoding='utf-8')}"


def statements_of(study: str, *options: str) -> list[dict[str, Any]]:
    """Run a study by its command, and return its statements; NaN where there is no figure."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "found.json")
        if steelyard(["study", study, *options, "--quiet", "--json", str(file)]):
            raise RuntimeError(f"steelyard study {study} failed")
        rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["statements"]
    return [row | {name: _known(row[name]) for name in ("value", "low", "high")} for row in rows]


def _known(value: float | str | None) -> float:
    return math.nan if value is None else float(value)


def statement_cells(row: Mapping[str, Any]) -> list[str]:
    """Return a statement as the cells of a table."""
    needed = "" if row["repetitions"] is None else f" ({row['repetitions']:,})"
    source = row["source"]
    for name in PAPER_NAMES:
        source = source.removeprefix(name)
    return [row["statement"], source, row["paper"], ours(row), f"{row['verdict']}{needed}"]


def study_section(study: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the statements of a study as a table, with the remarks of those that have any."""
    title, what = STUDIES[study]
    verdicts = Counter(row["verdict"] for row in rows)
    counts = ", ".join(f"{verdict} {verdicts[verdict]}" for verdict in VERDICTS if verdicts[verdict])
    lines = [
        f"## {title} {{ #{study} }}",
        "",
        f"`steelyard study {study}`. {what}",
        "",
        f"{len(rows)} statements: {counts}.",
        "",
    ]
    lines += [f"| {' | '.join(STATEMENT_COLUMNS)} |", "|---" * len(STATEMENT_COLUMNS) + "|"]
    lines += [f"| {' | '.join(map(escaped, statement_cells(row)))} |" for row in rows]
    explained = {
        "What does not hold:": [row for row in rows if row["verdict"] == "does not hold"],
        "Remarks:": [row for row in rows if row["verdict"] != "does not hold" and row["note"]],
    }
    for heading, chosen in explained.items():
        remarks = [f"- {escaped(row['statement'])}: {escaped(row['note'] or 'no reason is known')}." for row in chosen]
        lines += ["", heading, "", *remarks] if remarks else []
    return "\n".join([*lines, ""])


def papers_page(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return the page of all statements, study by study."""
    return "\n".join([WRITTEN_BY, "", PAPERS_HEAD, *(study_section(study, rows) for study, rows in found.items())])


def write_papers() -> None:
    """Run all studies at their default sizes, and write the page of their statements."""
    page = DOCS / "papers.md"
    page.write_text(papers_page({study: statements_of(study) for study in STUDIES}), encoding="utf-8")
    print(f"wrote {page.relative_to(DOCS.parent)}")


PAGES = {"measures.md": measures_page, "input.md": input_page, "changelog.md": changelog_page}


def stale() -> dict[Path, str]:
    """The pages that differ from what they should hold, with what they should hold."""
    wanted = {DOCS / name: make() for name, make in PAGES.items()}
    return {
        page: text for page, text in wanted.items() if not page.exists() or page.read_text(encoding="utf-8") != text
    }


def main(arguments: list[str]) -> int:
    """Write stale pages, or only name them; or run the studies and write their page."""
    if arguments == ["--papers"]:
        write_papers()
        return 0
    if arguments not in ([], ["--check"]):
        print("python docs/generate.py [--check | --papers]", file=sys.stderr)
        return 2
    found = stale()
    for page, text in found.items():
        if arguments:
            print(f"{page.relative_to(DOCS.parent)} is stale: run python docs/generate.py")
        else:
            page.write_text(text, encoding="utf-8")
            print(f"wrote {page.relative_to(DOCS.parent)}")
    return 1 if arguments and found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
