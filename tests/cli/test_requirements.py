"""Conditions on differences between classifiers, as gates in continuous integration have them."""

from __future__ import annotations

from importlib import resources
from itertools import permutations, product
from typing import Any

import pytest

from steelyard import assess, assess_table, compare
from steelyard.cli import main
from steelyard.cli.requirements import BadRequirement, read_requirement
from steelyard.core.errors import UnknownPart

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
BOTH = ["compare", IRIS, "--truth", "species", "--model", "lda=lda_*", "--model", "knn=knn_*"]


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("(lda - knn).error.high < 0.05", 0),
        ("(knn-lda).error.low > -0.05", 0),
        ("( lda - knn ).error <= -1", 1),
        ("(lda - knn).sensitivity[setosa].high < 0.5", 0),
        ("(lda - knn).f1[macro] < 1", 2),
        ("(lda - lda).error < 1", 2),
        ("(lda - qda).error < 1", 2),
        ("(lda - knn) error < 1", 2),
        ("(lda - knn).error < 5", 2),
        ("(lda - knn).hand_till_auc.low > -0.2", 0),
    ],
)
def test_a_difference_can_be_required(capsys: pytest.CaptureFixture[str], condition: str, status: int) -> None:
    assert main([*BOTH, "--measures", "error,sensitivity,f1,hand_till_auc", "--require", condition]) == status
    assert ("held: " in capsys.readouterr().out.lower()) == (status < 2)


def test_a_required_difference_is_the_one_of_the_table() -> None:
    found = compare([1, 2, 1, 2] * 9, {"a": [1, 2, 2, 2] * 9, "a - b": [1, 1, 1, 2] * 9, "b": [2, 2, 1, 2] * 9})
    for one, other in permutations(found.models, 2):
        for part, bound in product(("", "[1]"), ("value", "low", "high")):
            wanted = of_pair(found.differences("sensitivity", by_class=bool(part)).to_pylist(), one, other, bound, part)
            requirement = read_requirement(f"({one} - {other}).sensitivity{part}.{bound} < 0.1", found.models)
            assert requirement.judge(found).value == pytest.approx(wanted, nan_ok=False)


def test_a_difference_with_a_name_that_is_not_there_is_told_its_form() -> None:
    with pytest.raises(BadRequirement, match=r"Begin it with one of 'lda', 'knn'.*'\(knn - lda\)\.'"):
        read_requirement("(lda - kn).error.high < 0.02", ["lda", "knn"])


@pytest.mark.parametrize(
    ("written", "label"),
    [("auc", None), ("brier", None), ("sensitivity", None), ("sensitivity[0]", 0), ("sensitivity[1]", 1)],
)
def test_a_required_difference_is_that_of_the_event_where_there_is_one(written: str, label: int | None) -> None:
    truth, scores = [0, 1, 0, 1] * 9, {"new": [0.1, 0.8, 0.6, 0.7] * 9, "old": [0.3, 0.4, 0.2, 0.9] * 9}
    found = compare(truth, scores, event=1)
    measure = written.partition("[")[0]
    wanted = found["new"][measure, label].value - found["old"][measure, label].value
    verdict = read_requirement(f"(new - old).{written} > -0.5", found.models).judge(found)
    assert verdict.value == pytest.approx(wanted)


def of_pair(rows: list[dict[str, Any]], one: str, other: str, bound: str, part: str) -> float:
    """A bound of the difference between two classifiers, whichever way round it stands in the table."""
    for row in rows:
        if {row["a"], row["b"]} == {one, other} and (row["class"] == 1 if part else row["class"] is None):
            if row["a"] == one:
                return float(row["difference" if bound == "value" else bound])
            return -float(row[{"value": "difference", "low": "high", "high": "low"}[bound]])
    raise AssertionError(f"no difference between {one} and {other}")


PARTS = ["north"] * 4 + ["south"] * 4
DIVIDED: dict[str, Any] = {"by": PARTS, "event": 1, "measures": ["error", "sensitivity", "specificity", "precision"]}


@pytest.mark.parametrize(
    ("condition", "value", "held", "part"),
    [
        ("error < 0.3", 0.25, True, None),
        ("error < 0.3 in north", 0.0, True, None),
        ("error < 0.3 in  south ", 0.5, False, None),
        ("error <= 0.5 in every part", 0.5, True, "south"),
        ("error < 0.5 in every part", 0.5, False, "south"),
        ("error >= 0 in every part", 0.0, True, "north"),
        ("sensitivity[1].high < 0.9 in every part", 1.0, False, "north"),
        ("precision > 0.1 in every part", float("nan"), False, "south"),
    ],
)
def test_a_part_of_the_data_or_each_of_them_can_be_required(
    condition: str, value: float, held: bool, part: str | None
) -> None:
    truth = [0, 1, 0, 1, 1, 1, 0, 0]
    assigned = [0, 1, 0, 1, 0, 0, 0, 0]
    found = assess(truth, assigned, **DIVIDED)
    verdict = read_requirement(condition, [found.model], divided=True).judge(found)
    assert verdict.value == pytest.approx(value, abs=1e-4, nan_ok=True)
    assert (verdict.held, verdict.part) == (held, part)


def test_a_part_that_is_called_every_part_is_one_of_them() -> None:
    found = assess([0, 1, 0, 1], [0, 1, 1, 0], by=["every part", "every part", "b", "b"])
    verdict = read_requirement("error <= 0 in every part", [found.model], divided=True).judge(found)
    assert verdict.held


def test_differences_are_required_in_every_part() -> None:
    truth = [0, 1] * 8
    said = {"new": [0, 1] * 8, "old": [0, 1] * 4 + [1, 1] * 4}
    found = compare(truth, said, by=["a"] * 8 + ["b"] * 8, measures=["error"])
    verdict = read_requirement("(new - old).error < 0 in every part", found.models, divided=True).judge(found)
    assert (verdict.value, verdict.held, verdict.part, verdict.found) == (0.0, False, "a", "0.0000 in a")


def test_parts_that_are_not_there_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*BOTH, "--require", "lda.error < 0.5 in every part"]) == 2
    assert "Divide them with --by" in capsys.readouterr().err
    found = assess([0, 1], [0, 1], by=["north", "south"])
    with pytest.raises(UnknownPart, match="Did you mean 'north'"):
        read_requirement("error < 0.5 in nort", [found.model], divided=True).judge(found)


def test_what_was_found_is_told_on_its_side_of_the_limit() -> None:
    result = assess_table([[80, 20], [20, 80]], classes=["a", "b"])
    high = result["error"].high
    for digits in (3, 4, 5):
        limit = round(high, digits)
        sign = "<=" if high > limit else ">="
        verdict = read_requirement(f"error.high {sign} {limit}", ["prediction"]).judge(result)
        assert not verdict.held
        assert (float(verdict.found) > limit) == (high > limit)
        assert float(verdict.found) != limit
    assert read_requirement("error < 0.2", ["prediction"]).judge(result).found == "0.2000"
    assert read_requirement("error <= 0.2", ["prediction"]).judge(result).held
