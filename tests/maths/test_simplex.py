"""Where memberships lie in a simplex: as klaR has it, and by what every simplex must obey."""

from __future__ import annotations

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.display.partition_panels import MOST_MARKS, PartitionPanels, facts, triples
from steelyard.maths.simplex import (
    assigned_borders,
    cell_codes,
    cells,
    cells_of,
    coordinates,
    corners,
    edges,
    second_borders,
    seen,
)
from steelyard.results.partition_spaces import correctness, space_of, table_of

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "references" / "data" / "partition" / "simplex_trafo.json").read_text(encoding="utf-8")
)


def segments(name: str) -> Any:
    """Lines of klaR; null rows part them."""
    return np.array([row for row in GOLDEN[name] if row[0] is not None]).reshape(-1, 2, len(GOLDEN[name][0]))


@pytest.mark.parametrize("name", ["tritrafo", "quadtrafo"])
def test_coordinates_are_those_of_klar(name: str) -> None:
    found = coordinates(np.array(GOLDEN[name]["input"], float))
    assert found == pytest.approx(np.array(GOLDEN[name]["output"]), abs=1e-12)


@pytest.mark.parametrize("classes", [3, 4])
def test_borders_are_those_of_klar(classes: int) -> None:
    mine, theirs = assigned_borders(classes), segments(f"centerlines{classes}")
    assert np.array(sorted(mine.tolist())) == pytest.approx(np.array(sorted(theirs.tolist())), abs=1e-12)
    if classes == 3:
        drawn = coordinates(theirs.reshape(-1, 3)).reshape(-1, 2, 2)
        assert drawn == pytest.approx(segments("centerlines3_xy"), abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_corners_are_equally_far_apart_and_borders_are_ties(classes: int) -> None:
    lengths = [np.linalg.norm(one - other) for one, other in combinations(corners(classes), 2)]
    assert lengths == pytest.approx([lengths[0]] * len(lengths))
    assert len(edges(classes)) == len(lengths)
    ties = np.sort(assigned_borders(classes)[:, 1], axis=1)
    assert (ties[:, -1] == ties[:, -2]).all()
    for place, (middle, end) in enumerate(second_borders(classes)):
        between = (middle + end) / 2
        assert between.argmax() == place and np.ptp(np.delete(between, place)) == 0


def test_what_is_seen_of_a_tetrahedron_is_a_rotation_and_shows_all_corners() -> None:
    places = corners(4)
    found = seen(places)
    for one, other in combinations(range(4), 2):
        apart = np.linalg.norm(places[one] - places[other])
        assert np.linalg.norm(found[one] - found[other]) == pytest.approx(apart)
        assert np.linalg.norm(found[one, :2] - found[other, :2]) > 0.45
    assert found.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize(("classes", "steps"), [(2, 10), (3, 9), (4, 5)])
def test_cells_are_the_nearest_whole_steps(classes: int, steps: int) -> None:
    memberships = np.random.default_rng(1).dirichlet(np.full(classes, 0.7), 300)
    found = cells(memberships, steps)
    assert (found.sum(axis=1) == steps).all() and found.min() >= 0
    points = [point for point in product(range(steps + 1), repeat=classes) if sum(point) == steps]
    away = np.linalg.norm(memberships[:, None] - np.array(points) / steps, axis=2).min(axis=1)
    assert np.linalg.norm(memberships - found / steps, axis=1) == pytest.approx(away)
    codes = cell_codes(found, steps)
    assert cells_of(codes, steps, classes) == pytest.approx(found / steps)
    assert len(set(codes.tolist())) == len({tuple(row) for row in found.tolist()})


def test_triples_show_what_is_confused_most_and_nothing_twice() -> None:
    table = np.diag([50.0] * 6)
    table[0, 4], table[4, 0], table[2, 4], table[1, 5] = 9, 3, 4, 2
    assert triples(table, 6) == [(0, 2, 4), (0, 1, 5)]
    assert triples(table, 1) == [(0, 2, 4)]
    assert triples(np.diag([1.0, 9.0, 2.0, 8.0, 7.0]), 6) == [(1, 3, 4)], "the largest classes, if nothing is confused"


def test_many_classes_take_no_time() -> None:
    table = np.random.default_rng(1).uniform(size=(600, 600))
    assert len(triples(table, 6)) == 6


def of_three(rows: int, seed: int = 1, **more: Any) -> sy.Assessment:
    source = np.random.default_rng(seed)
    truth = source.integers(0, 3, rows)
    strength = np.exp(1.3 * np.eye(3)[truth] + source.normal(size=(rows, 3)))
    return sy.assess(truth, strength / strength.sum(axis=1, keepdims=True), scale=sy.Scale([0, 1, 2]), **more)


def test_rates_are_precisions_with_their_intervals() -> None:
    for each in (of_three(80), of_three(80, measures=["log_score", "error"])):
        space = space_of(each, "raw")
        assert (table_of(space) == each.by(sy.measures.find("precision")).confusion()).all()
        rates = correctness(each, space)
        for label, value, low, high in zip(*[rates[name] for name in rates.column_names], strict=True):
            found = of_three(80)["precision", label]
            assert (value, low, high) == (found.value, found.low, found.high)


def test_rates_of_other_assignments_have_no_interval() -> None:
    truth, score = np.array([0, 0, 1, 1, 1]), np.array([0.2, 0.4, 0.35, 0.8, 0.9])
    each = sy.assess(truth, score, event=1, threshold=0.3)
    rates = correctness(each, space_of(each))
    assert rates["value"] == pytest.approx([2 / 3, 1.0]) and np.isnan(rates["low"]).all()


@pytest.mark.parametrize("scaling", ["raw", "default", "literal", "klar"])
def test_measures_are_one_at_corners_and_nought_in_the_middle(scaling: str) -> None:
    assessment = of_three(60)
    space = space_of(assessment, scaling)
    for name, codes in (("partition_accuracy", space.truth), ("separation", space.assigned)):
        gaps = np.linalg.norm(np.eye(3)[codes] - space.scaled, axis=1)
        found = assessment[sy.find(name, scaling=scaling)]
        assert found.value == pytest.approx(1 - gaps.mean() / np.sqrt(2 / 3))
    assert facts("accuracy", 0.5) == "accuracy 0.500"
    assert facts("accuracy", 0.5, 0.4, 0.6) == "accuracy 0.500 [0.400, 0.600]"


def test_cells_hold_all_rows_and_what_they_weigh() -> None:
    many = PartitionPanels.of({"a": of_three(MOST_MARKS + 1)})
    (panel,) = many.panels()
    assert sum(panel.marks["rows"]) == MOST_MARKS + 1
    weight = np.random.default_rng(2).uniform(0, 3, 50)
    weight[:4] = 0.0
    (panel,) = PartitionPanels.of({"a": of_three(50, weight=weight)}, lines="truth").panels()
    assert sum(panel.marks["rows"]) == pytest.approx(weight.sum())
    assert all(0 < share <= 1 for share in panel.marks["share"]) and max(panel.marks["opacity"]) <= 1
    heaviest = int(np.argmax(panel.marks["rows"]))
    assert panel.marks["radius"][heaviest] == max(panel.marks["radius"])
