"""What commands do with a result: print it, write it as JSON, CSV, a page or Markdown, and judge requirements by it."""

from __future__ import annotations

import re
import shlex
import webbrowser
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from rich.text import Text

from .. import __version__
from ..core.errors import harmless, quoted
from ..core.table import Table, dump, formulas_in, json_value
from ..data.terminal import command_line, complain, console, error_console, put_out, show, working, write_to
from ..data.whole_files import CSV, ENDING_OF_MARKDOWN, JSON, MARKDOWN
from ..states.statistics import CONFUSION
from .options import HELD, NOT_HELD, EvaluationOptions, OutputOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core.estimate import Estimate
    from ..display.digest import Digest
    from ..display.grids import TextGrid
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison
    from ..results.decisions import Decision
    from .requirements import Requirement, RequirementResult


def tell_assessment(
    result: Assessment, options: EvaluationOptions, conditions: Sequence[Requirement], truth_in_rows: bool = True
) -> int:
    """Tell of one classifier."""
    from ..display.digest import assessment_digest
    from ..display.views import assessment_view

    def content() -> dict[str, Any]:
        return {
            **head_of(result),
            "confusion": result.confusion().tolist() if result.settings.made_of(CONFUSION) else None,
            "estimates": result.table().to_json(),
            "training": None if result.training is None else result.training.table().to_json(),
            "gaps": None if result.training is None else _gaps(result).to_json(),
            "chosen": [] if result.decision is None else [told_choice(result.decision, result.model)],
            "notes": result.notes,
        }

    view = partial(assessment_view, result, truth_in_rows)
    return _tell(result, options, conditions, view, content, partial(assessment_digest, result))


def _gaps(result: Assessment) -> Table:
    """How far the values on test data are from those on training data."""
    names = ("measure", "class", "average")
    whole = [row for row in result.table().to_pylist() if row.get("slice") is None]
    gaps = [result.gap(row["measure"], row["average"] or row["class"]) for row in whole]
    values = {name: [getattr(gap, name) for gap in gaps] for name in ("value", "low", "high", "se")}
    return Table({name: [row[name] for row in whole] for name in names} | values)


def tell_comparison(
    result: Comparison, options: EvaluationOptions, conditions: Sequence[Requirement], measure: str | None = None
) -> int:
    """Tell of several classifiers, and of the differences in one measure."""
    from ..display.digest import comparison_digest
    from ..display.views import comparison_view
    from ..results.verdicts import told_verdict

    shown = None if measure is None else result[result.models[0]].find(measure).label

    def content() -> dict[str, Any]:
        return {
            **head_of(result[result.models[0]]),
            "estimates": result.table().to_json(),
            "differences": _differences(result, options.quiet) if len(result.models) > 1 else [],
            "verdict": told_verdict(result, shown),
            "chosen": [told_choice(one, name) for name, one in result.decisions.items()],
            "notes": result.notes,
        }

    view, digest = partial(comparison_view, result, shown), partial(comparison_digest, result, shown)
    return _tell(result, options, conditions, view, content, digest)


def _tell(
    result: Assessment | Comparison,
    options: EvaluationOptions,
    conditions: Sequence[Requirement],
    view: Callable[[], RenderableType],
    content: Callable[[], Any],
    digest: Callable[[], Digest],
) -> int:
    """Tell of a result in all the ways that were asked for; each is made only then."""
    with working("weighing", options.quiet):
        table = result.table()
        verdicts = [condition.judge(result) for condition in conditions]
        seen = view() if options.prints_tables else None
    if seen is not None:
        show(seen)
    write(options, table, content)
    tell_left_out(options, result.tally.words_on_input)
    return tell_rest(options, result, digest, verdicts)


def tell_choices(options: OutputOptions, chosen: Sequence[Decision]) -> None:
    """Say which thresholds were chosen, and where there is none why, even to whom wants quiet."""
    from ..display.views import harmless_lines

    for one in chosen:
        for_people = options.prints_tables or (one.found and "-" not in options.targets)
        (console() if for_people else error_console()).print(Text(harmless_lines(str(one))))


def told_choice(one: Decision, model: str | None = None) -> dict[str, Any]:
    """A threshold that was chosen, and what it achieves: on the rows at hand, and on rows without a part in it."""
    pairs = [] if one.value is None or one.honest is None else [(one.value, one.honest), *one.limits]
    achieved = [{"measure": here.measure, **_bounds(here), "elsewhere": _bounds(there)} for here, there in pairs]
    told = {"goal": str(one.goal), "threshold": json_value(one.threshold), "note": one.note, "achieved": achieved}
    return told if model is None else {"model": model, **told}


def _bounds(found: Estimate) -> dict[str, Any]:
    return {name: json_value(getattr(found, name)) for name in ("value", "low", "high")}


def _differences(result: Comparison, quiet: bool) -> list[dict[str, Any]]:
    """All differences; those in parts of the data, too, where there are any."""
    with working("comparing", quiet):
        rows = result.differences().to_json()
        parts = [(label, part.differences().to_json()) for label, part in result.slices.items()]
    if not parts:
        return rows
    return [{"slice": label, **row} for label, some in [(None, rows), *parts] for row in some]


def tell_left_out(options: OutputOptions, notes: Sequence[str]) -> None:
    """Say which files were left out, where no table has a note of it."""
    for note in () if options.prints_tables else notes:
        complain("note", note)


def tell_rest(
    options: EvaluationOptions,
    result: Assessment | Comparison,
    digest: Callable[[], Digest],
    verdicts: Sequence[RequirementResult],
) -> int:
    """Write the page and Markdown, where they were asked for, and say how the requirements fared."""
    _write_page(options, result)
    if options.markdown is not None:
        write_to(options.markdown, markdown_document(digest(), verdicts), MARKDOWN)
    # Requirements that did not hold are told even to whom wants quiet.
    screen = console() if options.prints_tables else error_console()
    for verdict in verdicts:
        if verdict.held and options.quiet:
            continue
        word, style = ("held", "green") if verdict.held else ("NOT HELD", "bold red")
        line = Text(f"{word}: ", style=style) + Text(f"{harmless(verdict.text)}  (it is {harmless(verdict.found)})")
        screen.print(line)
    return HELD if all(verdict.held for verdict in verdicts) else NOT_HELD


# --- files --------------------------------------------------------------------------------------------------------


def head_of(result: Assessment) -> dict[str, Any]:
    """What was assessed, for JSON."""
    scale = result.tally.scale
    return {
        "steelyard": __version__,
        "rows": result.n,
        "dropped": result.dropped,
        "left_out": list(result.tally.left_out),
        "classes": list(scale.classes),
        "event": scale.event,
        "level": result.settings.level,
    }


def write(options: OutputOptions, table: Table, content: Callable[[], Any], labelled: bool = True) -> None:
    """Write what was asked for, where it was asked for; text may be ``labelled`` by names that come from data."""
    if options.json is not None:
        write_to(options.json, dump(content()) + "\n", JSON)
    if options.csv is not None:
        if labelled and not options.csv_safe:
            note_formulas(table)
        write_to(options.csv, table.to_csv(safe=options.csv_safe), CSV)


def note_formulas(table: Table) -> None:
    """Say that a spreadsheet would compute a cell instead of showing it."""
    found = next(formulas_in(table), None)
    if found is not None:
        complain("note", f"a spreadsheet takes {quoted(found)} in the CSV for a formula. --csv-safe prevents that")


def without_folders(command: str | None) -> str | None:
    """A command with the names of its files, but not of the folders in which they lie."""
    if command is None:
        return None
    return shlex.join(["".join(map(_base_name, re.split("([=,])", word))) for word in shlex.split(command)])


def _base_name(word: str) -> str:
    """What stands behind the last folder, where there is one: names of columns and conditions have a "/", too."""
    path = word.rpartition("cost:")[2]
    first, _, rest = path.partition("/")
    if not rest or not (first in ("", ".", "..", "~") or path.startswith("file:") or Path(first).is_dir()):
        return word
    return word[: len(word) - len(path)] + path.rstrip("/").rpartition("/")[2]


def _write_page(options: EvaluationOptions, result: Assessment | Comparison) -> None:
    """Write the page, if one is asked for; it tells the command that makes it again."""
    if options.html is None and not options.open:
        return
    named = options.html not in (None, "-")
    target = Path(str(options.html)) if named else Path(mkdtemp(prefix="steelyard-")) / "page.html"
    with working("drawing the page"):
        result.report(target, command=without_folders(command_line()), rows=options.show_rows)
    if options.html == "-":
        put_out(target.read_text(encoding="utf-8"))
    if options.open:
        webbrowser.open(target.resolve().as_uri())
    elif not named:
        rmtree(target.parent)


# --- Markdown of GitHub's kind, for pull requests: everything that came from data is shown, never obeyed ----------

# All signs but these are written as character references, which are never structure, neither of tables nor of HTML.
# Brackets of intervals and colons before spaces can be read in the source too; a link needs another bracket or colon.
ACTING = re.compile(r"[^\w \-.,;:()+=%/'\[\]↑↓→…–∞]|_|\[(?![-\d–∞])|(?<=\])[(\[]|:(?! |$)|(?<=www)\.")
# Right after these, a name would call somebody or point to an issue: a space without width keeps them apart.
CALLING = "@#"


def escaped(text: object) -> str:
    """Text that stands for itself, in one line."""
    return ACTING.sub(lambda sign: _reference(sign[0]), harmless(text)).strip()


def _reference(sign: str) -> str:
    return f"&#{ord(sign)};" + ("&#8203;" if sign in CALLING else "")


def markdown_table(grid: TextGrid) -> list[str]:
    """A grid as the lines of a table."""
    marks = ["--:" if place in grid.right else ":--" for place in range(len(grid.columns))]
    rows = [[escaped(cell) for cell in row] for row in [grid.columns, *grid.rows]]
    return [f"| {' | '.join(cells)} |" for cells in [rows[0], marks, *rows[1:]]]


def _requirements(verdicts: Sequence[RequirementResult]) -> list[str]:
    """Which conditions held."""
    if not verdicts:
        return []
    missed = sum(not verdict.held for verdict in verdicts)
    many = f"{len(verdicts)} requirement{'s' if len(verdicts) > 1 else ''}"
    told = f"❌ **{missed} of {many} not held**" if missed else f"✅ **{many} held**"
    lines = ["| requirement | found | held |", "| :-- | --: | :-: |"]
    for verdict in verdicts:
        cells = [f"<code>{escaped(verdict.text)}</code>", escaped(verdict.found), "✅" if verdict.held else "❌ no"]
        lines.append(f"| {' | '.join(cells)} |")
    return [told, "", *lines, ""]


def markdown_document(digest: Digest, verdicts: Sequence[RequirementResult] = ()) -> str:
    """The headline, the requirements, the main measures, and the rest folded away."""
    lines = [f"### {escaped(digest.headline)}", "", *_requirements(verdicts), escaped(digest.facts), ""]
    lines += [line for said in digest.said for line in (escaped(said), "")]
    lines += [*markdown_table(digest.main), ""]
    for title, grid in digest.folded.items():
        # Lines that are seen when somebody asks for them.
        lines += ["<details>", f"<summary>{escaped(title)}</summary>", "", *markdown_table(grid), "", "</details>", ""]
    lines += [f"- {escaped(note)}" for note in digest.notes]
    return "\n".join(lines).rstrip() + f"\n\n{ENDING_OF_MARKDOWN}\n"
