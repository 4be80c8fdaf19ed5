"""Results as Markdown of GitHub's kind, for pull requests. Everything that came from data is shown, never obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..core.errors import harmless
from ..data.own_kinds import ENDING_OF_MARKDOWN

if TYPE_CHECKING:
    from ..display.digest import Digest
    from ..display.grids import Grid
    from .requirements import Verdict

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


def table(grid: Grid) -> list[str]:
    """A grid as the lines of a table."""
    marks = ["--:" if place in grid.right else ":--" for place in range(len(grid.columns))]
    rows = [[escaped(cell) for cell in row] for row in [grid.columns, *grid.rows]]
    return [f"| {' | '.join(cells)} |" for cells in [rows[0], marks, *rows[1:]]]


def folded(title: str, lines: Iterable[str]) -> list[str]:
    """Lines that are seen when somebody asks for them."""
    return ["<details>", f"<summary>{escaped(title)}</summary>", "", *lines, "", "</details>", ""]


def requirements(verdicts: Sequence[Verdict]) -> list[str]:
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


def document(digest: Digest, verdicts: Sequence[Verdict] = ()) -> str:
    """The headline, the requirements, the main measures, and the rest folded away."""
    lines = [f"### {escaped(digest.headline)}", "", *requirements(verdicts), escaped(digest.facts), ""]
    lines += [line for said in digest.said for line in (escaped(said), "")]
    lines += [*table(digest.main), ""]
    for title, grid in digest.folded.items():
        lines += folded(title, table(grid))
    lines += [f"- {escaped(note)}" for note in digest.notes]
    return "\n".join(lines).rstrip() + f"\n\n{ENDING_OF_MARKDOWN}\n"
