"""Stored states: each kind has a tag of its own in files, and tallies with the names of classes are still read."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.core.errors import ForeignFile
from steelyard.families.summed import storing as states
from steelyard.families.summed.storing import KEPT, LATE
from steelyard.passes.tally_files import VERSION, _seal

# Two tallies of 40 rows in clusters that were summed and let go, written by the release of version 10 of the file.
OLD = Path(__file__).parents[1] / "references" / "data" / "tallies"
NAMES = ["forecasts", "measured"]
ESTIMATES = json.loads((OLD / "estimates.json").read_text(encoding="utf-8"))
COLUMNS = ("measure", "class", "average", "value", "low", "high", "se")
# What files say today. A tag that changes makes files unreadable: add tags, and never change one.
TAGS = {
    "numbers", "column sums", "named states", "score cells", "cluster sums", "influence products", "partition regions",
}  # fmt: skip


def kinds_in(node: Any) -> Iterator[dict[str, Any]]:
    """Every state in a header."""
    if isinstance(node, dict):
        if node.keys() == {"kind", "state"}:
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from kinds_in(each)


def split(path: Path) -> tuple[dict[str, Any], pa.Table, bytes]:
    """The header of a tally, the table that holds it, and the bytes behind that."""
    content = path.read_bytes()[: -len(_seal(b""))]
    source = pa.BufferReader(content)
    table = pa.ipc.open_stream(source).read_all()
    return json.loads(table.schema.metadata[b"steelyard"]), table, content[source.tell() :]


def tags_of(path: Path) -> set[str]:
    return {state["kind"] for state in kinds_in(split(path)[0])}


def with_tag(path: Path, name: str, tag: Any) -> None:
    """Write a tally with another tag for the first state of a kind."""
    header, table, rest = split(OLD / f"{name}.tally")
    next(kinds_in(header))["kind"] = tag
    table, sink = table.replace_schema_metadata({"steelyard": json.dumps(header)}), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    body = bytes(sink.getvalue()) + rest
    path.write_bytes(body + _seal(body))


def refuse_other_estimates(tally: sy.Tally, name: str) -> None:
    """See that estimates are those that the release before made of the same tally."""
    measures = list(dict.fromkeys(row[0] for row in ESTIMATES[name]))
    table = sy.assess_tally(tally, tally.models[0], measures=measures).table()
    found = {row[:3]: row[3:] for row in zip(*[table[column] for column in COLUMNS], strict=True)}
    for *key, value, low, high, se in ESTIMATES[name]:
        wanted = (value, low, high, np.nan if se is None else se)
        assert found.pop(tuple(key)) == pytest.approx(wanted, rel=1e-12, abs=1e-15, nan_ok=True), key
    assert not found


def test_every_kind_of_state_has_a_tag_of_its_own() -> None:
    assert {kind.tag for kind in states.KINDS} == TAGS
    assert len(states.BY_TAG) == len(states.BY_TYPE) == len(states.KINDS)
    assert {*KEPT.values(), *LATE.values()} <= states.BY_TYPE.keys()


def test_tags_are_words_and_no_names_of_classes() -> None:
    assert all(re.fullmatch("[a-z]+( [a-z]+)*", tag) for tag in states.BY_TAG)
    assert not states.BY_TAG.keys() & states.OLD_NAMES.keys()


def test_the_old_tallies_have_states_of_every_kind_under_names_of_classes() -> None:
    found = set().union(*[tags_of(OLD / f"{name}.tally") for name in NAMES])
    assert found == states.OLD_NAMES.keys()
    assert {states.OLD_NAMES[name] for name in found} == TAGS
    assert {split(OLD / f"{name}.tally")[0]["version"] for name in NAMES} == {10}


@pytest.mark.parametrize("name", NAMES)
def test_an_old_tally_gives_the_numbers_that_it_gave(name: str) -> None:
    refuse_other_estimates(sy.Tally.load(OLD / f"{name}.tally"), name)


@pytest.mark.parametrize("name", NAMES)
def test_an_old_tally_is_written_with_tags_and_gives_the_same_numbers(name: str, tmp_path: Path) -> None:
    sy.Tally.load(OLD / f"{name}.tally").save(tmp_path / "new.tally")
    assert tags_of(tmp_path / "new.tally") <= TAGS
    assert split(tmp_path / "new.tally")[0]["version"] == VERSION
    refuse_other_estimates(sy.Tally.load(tmp_path / "new.tally"), name)


@pytest.mark.parametrize("name", NAMES)
def test_old_and_new_tallies_hold_the_same_arrays(name: str, tmp_path: Path) -> None:
    shutil.copy(OLD / f"{name}.tally", tmp_path / "old.tally")
    sy.Tally.load(tmp_path / "old.tally").save(tmp_path / "new.tally")
    headers, tables, rests = zip(*[split(tmp_path / f"{age}.tally") for age in ("old", "new")], strict=True)
    assert rests[0] == rests[1]
    assert all(np.array_equal(tables[0].column(column), tables[1].column(column)) for column in tables[0].column_names)
    for state in kinds_in(headers[0]):
        state["kind"] = states.OLD_NAMES[state["kind"]]
    assert headers[0] | {"version": VERSION} == headers[1]


def test_an_unknown_tag_is_told(tmp_path: Path) -> None:
    with_tag(tmp_path / "a.tally", "forecasts", "score tree")
    words = r"a\.tally' holds a state of an unknown kind, 'score tree'\. Read it with the release that wrote it"
    with pytest.raises(ForeignFile, match=words):
        sy.Tally.load(tmp_path / "a.tally")


@pytest.mark.parametrize("tag", [None, 1, ["numbers"], {}])
def test_a_tag_that_is_no_word_is_refused(tag: Any, tmp_path: Path) -> None:
    with_tag(tmp_path / "a.tally", "measured", tag)
    with pytest.raises(sy.errors.DamagedFile, match="is no tally that can be read"):
        sy.Tally.load(tmp_path / "a.tally")
