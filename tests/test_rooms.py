"""The rooms of the package: docs/architecture.md lists them from the ground up, and every import goes down."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections import Counter
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

DRAWN_BY = Path(__file__).parents[1] / "docs" / "rooms.py"
UP = ("from ..cli import line", "def f():\n    from ..cli import line", "import steelyard.cli")


@pytest.fixture(scope="module")
def rooms() -> ModuleType:
    """What draws the picture of the rooms reads the imports; the test reads them in the same way."""
    spec = importlib.util.spec_from_file_location("docs_rooms", DRAWN_BY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_every_room_is_listed_once(rooms: ModuleType) -> None:
    listed, there = rooms.rooms_from_the_ground_up(), {name.split(".")[0] for name in rooms.modules()}
    assert sorted(listed) == sorted(there - rooms.FRONT)


def test_no_import_goes_up(rooms: ModuleType) -> None:
    assert upward(rooms.graph(), rooms.rooms_from_the_ground_up()) == []


def test_no_modules_import_each_other_in_a_circle(rooms: ModuleType) -> None:
    assert circle_of(rooms.graph()) == []


@pytest.mark.parametrize("text", UP)
def test_an_import_from_above_is_seen_wherever_it_stands(text: str, rooms: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(text, encoding="utf-8")
    found = set(rooms.imports("core.m", path, rooms.modules()))
    assert upward({"core.m": found}, rooms.rooms_from_the_ground_up())
    assert circle_of({"core.m": found, next(iter(found)): {"core.m"}})


def test_folders_say_what_comes_in_and_what_goes_out(rooms: ModuleType) -> None:
    for folder in {path.parent for path in rooms.PACKAGE.rglob("*.py")}:
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        assert text, folder.name
        if folder.parent == rooms.PACKAGE:
            assert len(re.findall(r"\.(?:\s|$)", text)) >= 3, folder.name


def test_no_two_classes_have_one_name(rooms: ModuleType) -> None:
    texts = [path.read_text(encoding="utf-8") for path in rooms.modules().values()]
    names = Counter(name for text in texts for name in re.findall(r"^[ \t]*class\s+(\w+)\s*[(:[]", text, re.MULTILINE))
    assert len(names) > 100
    assert [name for name, count in names.items() if count > 1] == []


def test_the_picture_of_the_rooms_is_not_stale(rooms: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert rooms.main(["--check"]) == 0, capsys.readouterr().out
