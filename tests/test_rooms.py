"""The rooms of the package: docs/contributing.md lists them from the ground up, and imports keep to that order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import steelyard

PACKAGE = Path(str(steelyard.__file__)).parent
LIST = (Path(__file__).parents[1] / "docs" / "contributing.md").read_text(encoding="utf-8")
FRONT = {"__init__", "__main__"}  # they only hand names on


def listed() -> list[str]:
    """The rooms as the list has them: words at the beginning of a line that end in .py or a slash."""
    block = LIST.split("src/steelyard/\n")[1].split("tests/\n")[0]
    lines = [re.split(r"\s{2,}", line.strip())[0] for line in block.splitlines()]
    return [re.sub(r"\.py$|/$", "", name) for line in lines for name in line.split(", ")]


def rooms() -> set[str]:
    """The rooms that there are: modules, and folders that have some."""
    return {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")} - FRONT


def imported(path: Path) -> Iterator[str]:
    """The rooms that a module needs before anything is asked of it; what is there for types alone does not count."""
    here = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            home = [*here[: len(here) - node.level + 1], *(node.module or "").split(".")]
            home = [part for part in home if part]
            yield from home[:1] or [alias.name for alias in node.names if alias.name != "__version__"]


def test_every_room_is_listed_once() -> None:
    assert sorted(listed()) == sorted(rooms())


def test_rooms_import_nothing_from_above() -> None:
    floor, wrong = {room: place for place, room in enumerate(listed())}, []
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room not in FRONT:
            wrong += [(str(path.relative_to(PACKAGE)), other) for other in imported(path) if floor[other] > floor[room]]
    assert wrong == []


def test_folders_say_what_they_are() -> None:
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))), folder.name
