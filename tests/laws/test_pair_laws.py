"""What is said of two classifiers is said by the two of them, whoever else is compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from steelyard import compare
from steelyard.inference.differences import holm
from tests.effort import in_pairs

COLUMNS = ("difference", "low", "high", "se", "p")
SEEDS = (4, 46, 54, 7)
KINDS = ("rows", "clusters", "weights", "clusters and weights")


def said(seed: int, rows: int = 40) -> tuple[Any, dict[str, Any]]:
    """Scores of four: two that are usual, one that is nearly perfect and one that errs by whole clusters."""
    random = np.random.default_rng(seed)
    ill = np.arange(rows) % 4 == 0
    noise = random.normal(size=(4, rows))
    astray = (random.random(rows // 5) < 0.4)[np.arange(rows) // 5]
    scores = {
        "x": ill + noise[0],
        "y": 2.0 * ill + 0.3 * noise[0] + noise[1],
        "sure": 6.0 * ill + noise[2],
        "astray": np.where(astray, -3.0, 3.0) * (ill - 0.5) + 0.2 * noise[3],
    }
    return np.where(ill, "ill", "well"), {name: 1 / (1 + np.exp(1 - one)) for name, one in scores.items()}


def asked(kind: str, rows: int, seed: int) -> dict[str, Any]:
    """How rows hang together, and what they weigh."""
    clusters, weights = {"group": np.arange(rows) // 5}, {"weight": np.random.default_rng(seed).gamma(2.0, size=rows)}
    return {**(clusters if "clusters" in kind else {}), **(weights if "weights" in kind else {})}


@pytest.mark.study
@pytest.mark.parametrize(("seed", "kind", "method"), in_pairs(SEEDS, KINDS, ["delta", "plain"]))
def test_a_third_classifier_changes_nothing_about_two(seed: int, kind: str, method: str) -> None:
    truth, scores = said(seed)
    options = {"event": "ill", "method": method, **asked(kind, len(truth), seed)}
    together = compare(truth, scores, **options).differences(by_class=True).to_pylist()
    overall = compare(truth, scores, **options).differences()
    alone_by = dict(zip(overall["measure"], overall["class"], strict=True))
    for a, b in {(row["a"], row["b"]) for row in together}:
        alone = compare(truth, {name: scores[name] for name in (a, b)}, **options).differences(by_class=True)
        among = [row for row in together if (row["a"], row["b"]) == (a, b)]
        assert [(row["measure"], row["class"]) for row in among] == list(
            zip(alone["measure"], alone["class"], strict=True)
        )
        for column in COLUMNS:
            assert_allclose([row[column] for row in among], alone[column], rtol=1e-9, atol=1e-12, err_msg=column)
    families: dict[Any, list[Any]] = {}
    for row in together:
        own = row["class"] != alone_by[row["measure"]]
        families.setdefault((row["measure"], own), []).append(row)
    for rows in families.values():
        assert_allclose([row["p_adjusted"] for row in rows], holm([row["p"] for row in rows]))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_third_classifier_changes_nothing_about_labels_of_several_classes(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth, group = random.integers(0, 3, 60), np.arange(60) // 6
    astray = (random.random(10) < 0.5)[group]
    labels = {
        "a": np.where(random.random(60) < 0.3, 0, truth),
        "b": np.where(random.random(60) < 0.1, 1, truth),
        "astray": np.where(astray, (truth + 1) % 3, truth),
    }
    two = compare(truth, {name: labels[name] for name in ("a", "b")}, group=group).differences(by_class=True)
    three = [row for row in compare(truth, labels, group=group).differences(by_class=True) if row["b"] != "astray"]
    for column in COLUMNS:
        assert_allclose([row[column] for row in three], two[column], rtol=1e-9, atol=1e-12, err_msg=column)
