"""What the library computes is what it computed before: a part of the pins, or all by STEELYARD_PINS=full."""

from __future__ import annotations

import fnmatch
import math
import re

import pytest

from .checking import FULL, KINDS, checked, of_kind, ways_of
from .comparing import Difference, differences, sorted_out
from .intended import INTENDED
from .problems import problems
from .storing import Pins, packed, read, unpacked
from .tallies import FIXTURES, KIND, given_by
from .ways import Fields

MOST_SHOWN = 40


def refused(left: list[Difference]) -> str:
    """Say what differs."""
    more = f"\nand {len(left) - MOST_SHOWN:,} more" if len(left) > MOST_SHOWN else ""
    told = "If that is intended, enter it into tests/pins/intended.py with its reason."
    return "\n".join(map(str, left[:MOST_SHOWN])) + f"{more}\n{told}"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_computed_is_what_was_computed_before(kind: str) -> None:
    left, _ = sorted_out(checked(kind), INTENDED)
    assert not left, refused(left)


@pytest.mark.parametrize("name", FIXTURES)
def test_tallies_saved_before_are_read_and_give_what_they_gave(name: str) -> None:
    before = {key: fields for key, fields in read(KIND).items() if key.startswith(f"{name}/")}
    left, _ = sorted_out(differences(before, given_by(name)), INTENDED)
    assert before
    assert not left, refused(left)


def test_every_intended_change_is_one_and_has_a_reason() -> None:
    assert all(reason for _, reason in INTENDED)
    if FULL:
        found = [each for kind in KINDS for each in checked(kind)] if INTENDED else []
        assert [pattern for pattern, count in sorted_out(found, INTENDED)[1].items() if not count] == []
        return
    pins = {key: fields for kind in (*KINDS, KIND) for key, fields in read(kind).items()}
    unknown = []
    for each, _ in INTENDED:
        field = "" if each.endswith("*") else each.rpartition("/")[2]
        names = (f"{key}/{field}" for key, fields in pins.items() if not field or field in fields)
        if not any(map(re.compile(fnmatch.translate(each)).match, names)):
            unknown.append(each)
    assert unknown == []


def test_every_data_set_is_pinned_in_every_way() -> None:
    names = [problem.name for problem in problems()]
    assert len(set(names)) == len(names) > 60
    for kind in KINDS:
        pinned = {tuple(key.split("/")[:2]) for key in read(kind)}
        assert pinned == {(problem.name, way) for problem in of_kind(kind) for way in ways_of(problem)}


# --- the tools themselves ---------------------------------------------------------------------------------------

ROW: Fields = {"value": 0.25, "low": -0.0, "high": math.inf, "se": 0.01, "n": 90.0, "method": "Wilson", "note": ""}
PINS: Pins = {
    "one/memory/estimates/a error": ROW,
    "one/streamed/estimates/a error": {**ROW, "value": 0.25 + 2**-54, "note": "at most"},
    "one/memory/estimates/a top_calibration_error": {**ROW, "value": 1e-9, "se": math.nan},
    "one/memory/failures/differences": {"message": "none"},
    "one/memory/differences/auc a b": {"difference": 0.0, "se": 0.0, "p": 1e-5, "note": ""},
}


def test_pins_are_read_as_they_were_written() -> None:
    content = packed(PINS)
    assert repr(unpacked(content)) == repr(PINS)
    assert packed(unpacked(content)) == content


@pytest.mark.parametrize(
    ("key", "field", "after", "error"),
    [
        ("one/memory/estimates/a error", "value", 0.25 + 9e-12, 0),
        ("one/memory/estimates/a error", "value", 0.25 + 2e-11, 2),
        ("one/memory/estimates/a error", "value", math.nan, math.inf),
        ("one/memory/estimates/a error", "high", 1e300, math.inf),
        ("one/memory/estimates/a error", "method", "delta", math.inf),
        ("one/memory/estimates/a error", "note", " ", math.inf),
        ("one/memory/estimates/a error", "n", 91.0, math.inf),
        ("one/memory/estimates/a top_calibration_error", "value", 0.0, 0),
        ("one/memory/estimates/a top_calibration_error", "value", 1e-7, 10),
        ("one/memory/estimates/a top_calibration_error", "se", 0.0, math.inf),
        ("one/memory/differences/auc a b", "difference", 1e-16, 0),
        ("one/memory/differences/auc a b", "difference", 1e-14, 10),
        ("one/memory/differences/auc a b", "p", 1e-5 + 1e-13, 0),
        ("one/memory/differences/auc a b", "p", 1e-5 + 1e-11, 10),
    ],
)
def test_what_rounding_explains_is_no_difference(key: str, field: str, after: float | str, error: float) -> None:
    found = list(differences(PINS, {**PINS, key: {**PINS[key], field: after}}))
    if not error:
        assert found == []
        return
    (only,) = found
    assert (only.key, only.field, only.after) == (key, field, after)
    assert only.error == pytest.approx(error, rel=0.01) or (field == "n" and only.error > 1e6)
    assert repr(after) in str(only)


def test_rows_that_are_gone_and_rows_that_are_new_are_differences() -> None:
    gone = {key: fields for key, fields in PINS.items() if "failures" not in key}
    for before, after in ((PINS, gone), (gone, PINS)):
        (only,) = differences(before, after)
        assert only.name == "one/memory/failures/differences/message"


def test_intended_changes_are_told_from_others() -> None:
    after = {key: {**fields, "note": "new"} for key, fields in PINS.items() if "note" in fields}
    patterns = [("one/*/estimates/*/note", "said better"), ("two/*", "stale")]
    left, matched = sorted_out(differences(PINS, {**PINS, **after}), patterns)
    assert [each.name for each in left] == ["one/memory/differences/auc a b/note"]
    assert matched == {"one/*/estimates/*/note": 3, "two/*": 0}
