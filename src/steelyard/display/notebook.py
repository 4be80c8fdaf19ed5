"""Results as HTML for a notebook: no script, nothing fetched, and everything that came from data escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ..core.errors import harmless

if TYPE_CHECKING:
    from .digest import Digest
    from .grids import Grid

# Colours are the notebook's own, in full or in part, so that all can be read in the light and in the dark: its theme
# may be dark where prefers-color-scheme, which speaks of the system, says light.
STYLE = """<style>
.steelyard{font:13px/1.45 system-ui,sans-serif;overflow-x:auto}
.steelyard b{font-size:14px}
.steelyard .dim,.steelyard summary{opacity:.72}
.steelyard p{margin:.2em 0 .4em;max-width:60em}
.steelyard table{border-collapse:collapse;margin:.3em 0 .6em;font-variant-numeric:tabular-nums}
.steelyard th,.steelyard td{padding:.15em .8em .15em 0;border:0;text-align:left;vertical-align:top}
.steelyard th,.steelyard td{background:none;white-space:pre}
.steelyard th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.5)}
.steelyard td{border-bottom:1px solid rgba(128,128,128,.15)}
.steelyard .number{text-align:right}
.steelyard .long{white-space:normal;max-width:36em}
.steelyard summary{cursor:pointer}
</style>"""
LONG_CELL = 40


def block(digest: Digest) -> str:
    """The headline, the main measures, and the rest to be unfolded."""
    parts = [f"<p><b>{escaped(digest.headline)}</b><br><span class='dim'>{escaped(digest.facts)}</span></p>"]
    parts += [f"<p>{escaped(line)}</p>" for line in digest.said]
    parts.append(table(digest.main))
    for title, grid in digest.folded.items():
        parts.append(f"<details><summary>{escaped(title)}</summary>{table(grid)}</details>")
    parts += [f"<p class='dim'>note: {escaped(note)}</p>" for note in digest.notes]
    return f"{STYLE}<div class='steelyard'>{''.join(parts)}</div>"


def table(grid: Grid) -> str:
    """A grid as a table."""
    head = "".join(_cell("th", name, place in grid.right) for place, name in enumerate(grid.columns))
    rows = "".join(
        f"<tr>{''.join(_cell('td', cell, place in grid.right) for place, cell in enumerate(row))}</tr>"
        for row in grid.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(kind: str, text: str, right: bool) -> str:
    classes = " ".join([*(["number"] if right else []), *(["long"] if len(text) > LONG_CELL else [])])
    named = f" class='{classes}'" if classes else ""
    return f"<{kind}{named}>{escaped(text)}</{kind}>"


def escaped(text: object) -> str:
    """Text that stands for itself."""
    return html.escape(harmless(text))
