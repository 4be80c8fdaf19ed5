"""The page: all that it shows as one plain dictionary, packed with style and scripts into one file.

Every number comes from the library, none is made by the page, which needs nothing else and obeys nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...core.errors import BadOption, quoted
from ...core.text import in_percent
from ...core.threads import meanwhile
from ...data.whole_files import REPORT, refuse_no_page, write_whole
from ...results.assessment import Assessment
from ...results.parts import compute_all
from ...results.verdicts import best_first, spoken
from ..grids import heading, overall_rows, titled
from ..plots.style import COLOURS, DASHES
from .data_and_methods import call_of, data_of, methods_of, sources_of, versions
from .figures import curves_of, operating_of, reliability_of, simplex_of, strip_of
from .tables import (
    MOST_CLASSES,
    Overall,
    classes_of,
    confusion_of,
    deciding_of,
    differences_of,
    folds_of,
    measures_of,
    slices_of,
)
from .wording import sentences, shown

if TYPE_CHECKING:
    from jinja2 import Template

    from ...results.assessment import Assessment
    from ...results.comparison import Comparison
    from ...results.verdicts import Verdict
    from .figures import Rankings

MOST_NOTES = 12


def content_of(
    result: Assessment | Comparison, title: str | None = None, command: str | None = None, rows: bool = False
) -> dict[str, Any]:
    """Everything about one or more classifiers that the page shows; JSON can hold it.

    Single rows are part of it only where that is asked for.
    """
    comparison = None if isinstance(result, Assessment) else result
    assessments = {result.model: result} if isinstance(result, Assessment) else result.assessments
    first = next(iter(assessments.values()))
    first.refuse_hidden()
    _compute(assessments)
    ranked: Rankings = {}
    operating = operating_of(assessments, ranked)
    overall = [overall_rows(each) for each in assessments.values()]
    # Neither keeps two cores busy all of the time.
    with meanwhile(lambda: reliability_of(assessments, ranked)) as curves:
        simplex = simplex_of(assessments, rows)
    reliability = curves.result()
    verdict = None if comparison is None else spoken(comparison)
    content: dict[str, Any] = {
        "steelyard": __version__,
        "title": shown(title) if title else _title(assessments),
        "models": [shown(name) for name in assessments],
        "ticked": _ticked(assessments),
        "heading": heading(first),
        "level": in_percent(first.settings.level),
        "verdict": _said(verdict, assessments, overall),
        "measures": measures_of(first, overall),
        "confusion": confusion_of(assessments),
        "operating": operating,
        "classes": classes_of(assessments),
        "slices": slices_of(assessments),
        "curves": curves_of(first, reliability),
        "reliability": reliability,
        "simplex": simplex,
        "strip": strip_of(assessments, rows),
        "differences": None if verdict is None else differences_of(verdict),
        "deciding": [] if verdict is None or comparison is None else deciding_of(comparison, verdict, rows),
        "folds": None if comparison is None else folds_of(comparison),
        "data": data_of(assessments, result),
        "notes": result.notes[:MOST_NOTES],
        "versions": [list(pair) for pair in versions()],
        "call": command or call_of(result, assessments),
    }
    return content | {"methods": methods_of(content), "sources": sources_of(content)}


def _compute(assessments: Mapping[str, Assessment]) -> None:
    """Compute all slots at once, which is quicker than one by one; of many classes few are shown."""
    for each in assessments.values():
        if len(each.classes) <= MOST_CLASSES:
            compute_all([part for part in each.parts.values() if part.evaluation.measures])


def _ticked(assessments: Mapping[str, Assessment]) -> dict[str, Any]:
    """Which classifiers are shown at first, and how they were picked: of many, as many as there are colours."""
    names, (measure, best) = list(assessments), best_first(assessments)
    if len(names) <= len(COLOURS) or measure is None:
        return {"models": list(range(len(names))), "words": ""}
    places = sorted(map(names.index, best[: len(COLOURS)]))
    end = "highest" if measure.better == "higher" else "lowest"
    return {"models": places, "words": f"the {len(places)} with the {end} {shown(titled(measure))} are shown"}


def _title(assessments: Mapping[str, Assessment]) -> str:
    """What the page is called where nobody says so."""
    names = [shown(name) for name in assessments]
    if len(names) == 1:
        return f"Assessment of {names[0]}"
    return f"Comparison of {' and '.join(names)}" if len(names) == 2 else f"Comparison of {len(names)} classifiers"


def _said(verdict: Verdict | None, assessments: Mapping[str, Assessment], overall: Sequence[Overall]) -> list[str]:
    """The verdict as the library says it, a line an item; of one classifier, what its measures say."""
    if verdict is not None:
        return verdict.words().splitlines()
    pairs = zip(assessments.values(), overall, strict=True)
    return [line for each, rows in pairs for line in sentences(each, rows)]


# --- one file -----------------------------------------------------------------------------------------------------

# In this order: each script uses what those before it made.
SCRIPTS = (
    *("kit", "legend", "explain", "tables", "measures", "matrices", "operating"),
    *("curves", "reliability", "simplex", "strip", "contests", "start"),
)
# Signs that would end the script, or a line of it for older readers.
ESCAPES = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page_of(content: dict[str, Any]) -> str:
    """The page as text."""
    style, script = _asset("style.css"), _script()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    data = embedded({**content, "looks": _looks()})
    return _template().render(page=content, style=style, script=script, data=data, policy=policy)


def write_report(
    result: Assessment | Comparison,
    path: str | Path,
    title: str | None = None,
    command: str | None = None,
    rows: bool = False,
    overwrite: bool = False,
) -> None:
    """Write the page of an assessment or a comparison, whole or not at all; it replaces reports, and nothing else."""
    for name, words in (("title", title), ("command", command)):
        if not (words is None or isinstance(words, str)):
            raise BadOption(f"{name} is {quoted(words)}", mend="Give text, or leave it out")
    refuse_no_page(path)
    text = page_of(content_of(result, title, command, rows))
    # What no encoding can write, half of a pair of surrogates, is shown as what it is.
    write_whole(path, text.encode("utf-8", "backslashreplace"), REPORT, overwrite)


def embedded(content: dict[str, Any]) -> str:
    """JSON that can stand inside a page: no sign of it can end the element that holds it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign, escape in ESCAPES.items():
        text = text.replace(sign, escape)
    return text


def _looks() -> list[dict[str, Any]]:
    """How lines of classifiers look, as in all pictures; no colour is that of text."""
    dashes = ["" if isinstance(dash, str) else " ".join(str(2 * part) for part in dash[1]) for dash in DASHES]
    return [{"colour": COLOURS[k % len(COLOURS)], "dash": dashes[k % len(dashes)]} for k in range(40)]


def _hash(text: str) -> str:
    """The only script, and the only style, that a reader of the page may obey."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """All scripts as one, in a room of their own."""
    parts = "\n".join(_asset(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


def _unbroken(line: str) -> str:
    """A sentence in which no line ends between p and its value."""
    return re.sub(r"\bp ([=<]) ", "p\u00a0\\1\u00a0", line)


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["unbroken"] = _unbroken
    return environment.from_string(_asset("page.html"))
