"""The rooms of the package: docs/architecture.md lists them from the ground up, and every import goes down."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import steelyard

PACKAGE = Path(str(steelyard.__file__)).parent
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
FRONT = {"__init__", "__main__"}  # they only hand names on
UPWARDS = "results.accessors"  # the one module that loads what is built above it


def rooms_from_the_ground_up() -> list[str]:
    """The rooms in the table of the page: the first cell of each line, a name with a slash."""
    return re.findall(r"^\| `([a-z]+)/` \|", PAGE, re.MULTILINE)


def modules() -> dict[str, Path]:
    """All modules by their dotted names below the package; a folder has the name of its ``__init__``."""
    paths = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): PACKAGE / path for path in paths}


def imports(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a module imports anywhere: in functions and for types, too."""
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


def graph() -> dict[str, set[str]]:
    known = modules()
    found = {name: {other for other in imports(name, path, known) if other} for name, path in known.items()}
    return {name: others - {name} for name, others in found.items() if name not in {*FRONT, UPWARDS}}


def circle_of(edges: Mapping[str, set[str]]) -> list[str]:
    """The modules of a circle; none where there is no circle."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def upward(edges: Mapping[str, set[str]], order: list[str]) -> list[tuple[str, str]]:
    """Imports from a room above."""
    floor = {room: place for place, room in enumerate(order)}
    pairs = ((name, other) for name, others in edges.items() for other in others)
    return [(a, b) for a, b in pairs if floor[b.split(".")[0]] > floor[a.split(".")[0]]]


def test_every_room_is_listed_once() -> None:
    listed, there = rooms_from_the_ground_up(), {name.split(".")[0] for name in modules()}
    assert sorted(listed) == sorted(there - FRONT)


def test_no_import_goes_up() -> None:
    assert upward(graph(), rooms_from_the_ground_up()) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle_of(graph()) == []


@pytest.mark.parametrize(
    "text", ["from ..cli import line", "def f():\n    from ..cli import line", "import steelyard.cli"]
)
def test_an_import_from_above_is_seen_wherever_it_stands(text: str, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(text, encoding="utf-8")
    found = set(imports("core.m", path, modules()))
    assert upward({"core.m": found}, rooms_from_the_ground_up())
    assert circle_of({"core.m": found, next(iter(found)): {"core.m"}})


def test_folders_say_what_comes_in_and_what_goes_out() -> None:
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        assert text, folder.name
        if folder.parent == PACKAGE:
            assert len(re.findall(r"\.(?:\s|$)", text)) >= 3, folder.name
