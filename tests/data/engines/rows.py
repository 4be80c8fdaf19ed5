"""Rows of every kind of column, and the results that memory gives for them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard import all_measures, find
from tests.passes.test_summing import alike, scatter

GRADES = sy.Continuum([64.0, 66.0], classes=["low", "mid", "high"], event="high")
COSTS = {"low": {"mid": 1, "high": 2}, "mid": {"low": 3, "high": 1}, "high": {"low": 9, "mid": 2}}
NEEDED: dict[str, dict[str, Any]] = {
    **{name: {"costs": COSTS} for name in ("cost", "expected_cost", "decision_cost")},
    **{name: {"prevalence": 0.2} for name in ("precision_at", "npv_at")},
}
EVERY = [find(name, **NEEDED.get(name, {})) for name in all_measures()]
LABELLED: dict[str, Any] = {"truth": "y", "event": "high", "cost": COSTS}
MEASURED: dict[str, Any] = {
    "truth": "z",
    "scale": GRADES,
    "sd": "sd",
    "sd_response": 0.5,
    "response": ("expected", "spread"),
    "measures": EVERY,
}
CLUSTERED: dict[str, Any] = {"weight": "weight", "group": "patient", "by": ["site", "hour"]}
MODELS = {"p": "p_*", "q": "q_*", "m": "m"}


@cache
def table() -> Any:
    """Rows with labels, measured values, memberships, weights, clusters and parts."""
    rows, random = 240, np.random.default_rng(5)
    true = random.normal(65, 2, rows)
    measured = true + random.normal(0, 0.4, rows)
    names = np.array(GRADES.classes)

    def said(noise: float) -> Any:
        distance = np.abs((true + random.normal(0, noise, rows))[:, None] - [62.5, 65, 67.5])
        return np.exp(-distance) / np.exp(-distance).sum(axis=1, keepdims=True)

    memberships = {"p": said(1.0), "q": said(1.5)}
    return pa.table(
        {
            "z": measured,
            "y": names[np.searchsorted([64.0, 66.0], measured, side="right")],
            "m": names[said(2.0).argmax(axis=1)],
            **{f"{of}_{name}": found[:, k] for of, found in memberships.items() for k, name in enumerate(names)},
            "sd": random.uniform(0.3, 0.5, rows),
            "expected": 65 + 0.6 * (true - 65),
            "spread": random.uniform(1.0, 1.5, rows),
            "weight": random.uniform(0.5, 3, rows),
            "often": random.integers(1, 4, rows),
            "patient": random.integers(0, 40, rows),
            "site": np.array(["n", "s"])[random.integers(0, 2, rows)],
            "hour": random.integers(0, 2, rows),
        }
    )


def files(folder: Path) -> Path:
    """The rows in five files of unequal length."""
    return scatter(table(), folder / "rows", 5)


@cache
def held(kind: str) -> Any:
    """What memory makes of the rows."""
    return ASKED[kind](table(), {})


def _assessed(options: dict[str, Any]) -> Any:
    return lambda source, where: sy.assess(source, **options, **where)


ASKED: dict[str, Any] = {
    "measured": _assessed({**MEASURED, "membership": "p_*"}),
    "clustered": _assessed({**MEASURED, **CLUSTERED, "membership": "p_*", "where": "hour < 2 and weight > 0.6"}),
    "labels": _assessed({**LABELLED, "assigned": "m", "weight": "often", "weight_kind": "frequency", "by": "site"}),
    "ranked": _assessed({"truth": "y", "membership": "p_*", "measures": ["auc"], "group": "patient"}),
    "compared": lambda source, where: sy.compare(source, MODELS, **LABELLED, **where),
}


def same(kind: str, source: Any, **where: Any) -> None:
    """Hold what an engine makes of the rows against what memory makes of them."""
    found, right = ASKED[kind](source, where), held(kind)
    if kind == "measured":
        assert {measure.name for measure in found.settings.measures} == set(all_measures())
    alike(found, right)
    assert found.tally.rows == right.tally.rows
    assert (found.tally.scores is None) == (right.tally.scores is None)
    for label, part in getattr(right, "slices", {}).items():
        alike(found.slices[label], part)
    if kind == "compared":
        one, two = (result.differences("auc").to_pylist() for result in (found, right))
        for row, other in zip(one, two, strict=True):
            for name in ("difference", "low", "high", "se", "p"):
                assert row[name] == pytest.approx(other[name], rel=1e-12, abs=1e-12, nan_ok=True), (row, name)
