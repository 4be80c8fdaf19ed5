"""Draws the rooms of the package and which of them each one imports, from the imports themselves.

``python docs/rooms.py`` writes docs/images/rooms.svg; with ``--check`` it says whether the picture is stale, and exits
with 1 if it is.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, PAGE, PICTURE = ROOT / "src" / "steelyard", ROOT / "docs" / "architecture.md", ROOT / "docs/images/rooms.svg"
FRONT = {"__init__", "__main__"}  # they only hand names on
UPWARDS = "results.accessors"  # the one module that loads what is built above it
WALK = ("data", "inputs", "passes", "states", "families", "inference", "results", "display")  # of data, in this order

# In pixels of the picture.
HEIGHT, WIDTH, LEFT, TOP = 30, 30, 130, 96
INK, FAINT, ACCENT, WALKED = "#1b2733", "#d5dbe1", "#0b62a4", "#e8f1f8"


def rooms_from_the_ground_up() -> list[str]:
    """Return the rooms in the table of the page: the first cell of each line, a name with a slash."""
    return re.findall(r"^\| `([a-z]+)/` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def modules() -> dict[str, Path]:
    """Return all modules by their dotted names below the package; a folder has the name of its ``__init__``."""
    paths = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): PACKAGE / path for path in paths}


def imports(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Return the modules that a module imports anywhere: in functions and for types, too."""
    here = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name.removeprefix("steelyard.") for one in node.names if one.name.startswith("steelyard."))
        elif isinstance(node, ast.ImportFrom):
            up = here[: len(here) - node.level + 1] if node.level else []
            base = ".".join([*up, *(node.module or "").split(".")]).strip(".")
            if not node.level and base.split(".")[0] != "steelyard":
                continue
            base = base.removeprefix("steelyard").strip(".")
            for one in node.names:
                whole = f"{base}.{one.name}".strip(".")
                yield whole if whole in known else base


@cache
def graph() -> dict[str, set[str]]:
    """Return the modules that each module imports, but for the fronts and the one module that loads what is above."""
    known = modules()
    found = {name: {other for other in imports(name, path, known) if other} for name, path in known.items()}
    return {name: others - {name} for name, others in found.items() if name not in {*FRONT, UPWARDS}}


def between_rooms(edges: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """Return the pairs of rooms of which the first imports the second."""
    pairs = {(name.split(".")[0], other.split(".")[0]) for name, others in edges.items() for other in others}
    return {(a, b) for a, b in pairs if a != b}


def picture(rooms: Sequence[str], pairs: set[tuple[str, str]]) -> str:
    """Return the rooms as rows, the ground at the bottom, with a dot for each room that a room imports."""
    size = len(rooms)
    wide, high = LEFT + size * WIDTH + 20, TOP + size * HEIGHT + 34
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        'font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Rooms and their imports">',
        f'<rect width="{wide}" height="{high}" fill="white"/>',
    ]
    for floor, room in enumerate(rooms):
        y, x = TOP + (size - 1 - floor) * HEIGHT, LEFT + floor * WIDTH + WIDTH / 2
        walked = room in WALK
        number = f"{WALK.index(room) + 1} " if walked else ""
        lines += [
            f'<rect x="8" y="{y + 2}" width="{LEFT - 18}" height="{HEIGHT - 4}" rx="4" '
            f'fill="{WALKED if walked else "white"}" stroke="{ACCENT if walked else FAINT}"/>',
            f'<text x="18" y="{y + HEIGHT / 2 + 5}" fill="{INK}">{number}{room}</text>',
            f'<line x1="{LEFT}" x2="{LEFT + floor * WIDTH + WIDTH / 2}" y1="{y + HEIGHT / 2}" y2="{y + HEIGHT / 2}" '
            f'stroke="{FAINT}"/>',
            f'<text transform="translate({x + 4} {TOP - 8}) rotate(-55)" fill="{INK}">{room}</text>',
            f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{y + HEIGHT / 2}" stroke="{FAINT}" stroke-dasharray="2 4"/>',
            f'<rect x="{x - 3}" y="{y + HEIGHT / 2 - 3}" width="6" height="6" fill="{FAINT}"/>',
        ]
        below = [LEFT + place * WIDTH + WIDTH / 2 for place, other in enumerate(rooms) if (room, other) in pairs]
        lines += [f'<circle cx="{place}" cy="{y + HEIGHT / 2}" r="5" fill="{ACCENT}"/>' for place in below]
    legend = "A dot: the room of this row imports that of the column. 1 to 8: the walk of the data."
    lines += [f'<text x="8" y="{high - 10}" font-size="12" fill="{INK}">{legend}</text>', "</svg>", ""]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Write the picture, or say whether it is stale."""
    found = picture(rooms_from_the_ground_up(), between_rooms(graph()))
    if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == found:
        return 0
    if "--check" in arguments:
        print("docs/images/rooms.svg is stale: run python docs/rooms.py")
        return 1
    PICTURE.write_text(found, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
