"""Packs the dictionary, the style and the scripts into one file that needs nothing else and obeys nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.errors import BadOption, quoted
from ...data.own_kinds import REPORT
from ...data.whole_files import refuse_no_page, write_whole
from ..plots.style import COLOURS, DASHES
from .content import content_of

if TYPE_CHECKING:
    from jinja2 import Template

    from ...results.assessment import Assessment
    from ...results.comparison import Comparison

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
