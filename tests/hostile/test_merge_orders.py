"""Parts added up in any order and by any tree are the whole; what is added and taken out again leaves nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.passes import tally as tallies

from .problems import each, in_batches

Columns = dict[str, Any]
KINDS = ("labels", "weighted", "clustered", "scored", "measured")


def rows_of(random: np.random.Generator, rows: int) -> Columns:
    """True labels, labels and scores that were predicted, weights, clusters, subgroups, and measured values."""
    truth = random.integers(0, 3, rows)
    truth[:3] = 0, 1, 2
    value = random.normal(5, 2, rows)
    return {
        "truth": np.array(["a", "b", "c"])[truth],
        "said": np.array(["a", "b", "c"])[np.where(random.random(rows) < 0.6, truth, random.integers(0, 3, rows))],
        "ill": np.where(truth > 0, "yes", "no"),
        "score": np.round(np.clip(0.2 * truth + 0.6 * random.random(rows), 0, 1), int(random.choice([1, 2, 12]))),
        "weight": random.gamma(2.0, size=rows),
        "patient": random.integers(0, rows // 4, rows),
        "site": random.choice(["n", "s", "w"], rows),
        "value": value,
        "guess": np.digitize(value + random.normal(size=rows), [3, 6]),
    }


def assessed(kind: str, columns: Columns) -> sy.Assessment:
    """Assess some rows in one of five ways."""
    c = columns
    if kind == "measured":
        return sy.assess(c["value"], c["guess"], scale=sy.Continuum([3, 6], classes=[0, 1, 2], sd=0.5))
    if kind == "scored":
        scale = sy.Scale(["no", "yes"], event="yes")
        return sy.assess(c["ill"], c["score"], scale=scale, measures=["auc", "brier", "f1", "average_precision"])
    more: dict[str, Any] = {
        "labels": {"by": c["site"]},
        "weighted": {"weight": c["weight"]},
        "clustered": {"group": c["patient"], "weight": c["weight"]},
    }[kind]
    return sy.assess(c["truth"], c["said"], scale=sy.Scale(["a", "b", "c"]), **more)


def tree(random: np.random.Generator, parts: list[sy.Tally], travel: Callable[[sy.Tally], sy.Tally]) -> sy.Tally:
    """Add two of the parts, until one is left; now and then a sum goes to a file and back."""
    while len(parts) > 1:
        first, second = random.choice(len(parts), 2, replace=False).tolist()
        total = parts[first] + parts[second]
        parts = [one for place, one in enumerate(parts) if place not in (first, second)]
        parts.append(travel(total) if random.random() < 0.2 else total)
    return parts[0]


def summed(parts: list[sy.Tally]) -> sy.Tally:
    """All parts, in the order in which they stand."""
    return sum(parts[1:], start=parts[0])


def equal(found: sy.Assessment, expected: sy.Assessment) -> None:
    """The same estimates, intervals and numbers of rows, to nine digits."""
    ours, theirs = found.table(), expected.table()
    assert list(ours.columns) == list(theirs.columns)
    for name in ("measure", "class", "average", "n", "value", "low", "high", "se"):
        for place, (one, other) in enumerate(zip(ours[name], theirs[name], strict=True)):
            if isinstance(one, float) and isinstance(other, float):
                same = math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-9) or (math.isnan(one) and math.isnan(other))
            else:
                same = one == other
            assert same, (name, ours["measure"][place], one, other)


@in_batches(500)
def test_any_order_and_any_tree_is_the_whole(batch: int, tmp_path: Path) -> None:
    path = tmp_path / "part.tally"

    def travel(one: sy.Tally) -> sy.Tally:
        one.save(path)
        return sy.Tally.load(path)

    for random, told in each(batch, 6):
        with told:
            kind = KINDS[random.integers(len(KINDS))]
            count, size = int(random.integers(2, 7)), int(random.integers(20, 40))
            columns = rows_of(random, count * size)
            whole = assessed(kind, columns)
            parts = [
                assessed(kind, {name: values[k * size : (k + 1) * size] for name, values in columns.items()}).tally
                for k in range(count)
            ]
            total = tree(random, parts, travel)
            more = assessed(kind, rows_of(random, 30)).tally
            if random.random() < 0.3:
                total = total + more - more
            measures = [measure.label for measure in whole.settings.measures]
            equal(sy.assess_tally(total, measures=measures), whole)


@pytest.mark.parametrize("turn", range(3))
def test_any_order_is_the_whole_where_rows_are_not_kept(turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Summaries of rows that are too many to be kept: what is exact in them does not depend on the order."""
    monkeypatch.setattr(tallies, "MOST_ROWS", 100)
    random = np.random.default_rng(turn)
    columns, size = rows_of(random, 600), 100
    columns["score"] = np.round(columns["score"], 1)
    parts = [
        assessed("scored", {name: values[k * size : (k + 1) * size] for name, values in columns.items()}).tally
        for k in range(6)
    ]
    found = [sy.assess_tally(summed([parts[k] for k in random.permutation(6).tolist()])) for _ in range(5)]
    whole = assessed("scored", columns)
    for one in found:
        for name in ("auc", "brier", "f1"):
            assert one[name].value == pytest.approx(whole[name].value, rel=1e-9)
