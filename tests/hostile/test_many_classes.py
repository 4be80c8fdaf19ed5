"""Thousands of classes: the same numbers with a fraction of the memory, or a refusal before any of it is taken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import TooLarge
from steelyard.families import counts as counting
from steelyard.families.counts import pseudo_mean
from steelyard.measures import counts
from steelyard.states.statistics import Distances

from .amount import FULL

KAPPAS = ["weighted_kappa", "weighted_kappa(weights='quadratic')", "error"]


def rows(classes: int, size: int, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, size)
    return truth, np.where(random.random(size) < 0.7, truth, random.integers(0, classes, size))


@pytest.mark.parametrize("given", ["rows", "weights", "clusters", "few patterns"])
def test_weak_point_36_distances_are_not_laid_out_and_give_the_same_numbers(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, said = rows(60, 150 if given == "few patterns" else 1_500)
    options: dict[str, Any] = {"weight": np.random.default_rng(1).random(1_500)} if given == "weights" else {}
    options |= {"group": np.arange(1_500) // 5} if given == "clusters" else {}
    laid_out = sy.assess(truth, said, measures=KAPPAS, **options)
    expected = [laid_out[name] for name in KAPPAS]
    for module in (counts, counting):
        monkeypatch.setattr(module, "MOST_LAID_OUT", 10)
    for one, name in zip(expected, KAPPAS, strict=True):
        found = sy.assess(truth, said, measures=KAPPAS, **options)[name]
        for column in ("value", "low", "high", "se"):
            assert getattr(found, column) == pytest.approx(getattr(one, column), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("power", [1, 2])
def test_sums_over_distances_are_those_of_the_matrix(power: int) -> None:
    places = np.arange(37.0)
    matrix, found = np.abs(places[:, None] - places) ** power, Distances(37, power)
    left = np.random.default_rng(0).random((3, 2, 37)) * (1 + 1j)
    assert left @ found == pytest.approx(left @ matrix)
    assert left @ found.T == pytest.approx(left @ matrix.T)
    assert (found.total(), found.total(2)) == pytest.approx((matrix.sum(), np.square(matrix).sum()))
    assert (found.min(), found.max()) == (matrix.min(), matrix.max())
    assert pseudo_mean(found) == pytest.approx(float(pseudo_mean(matrix)))
    cells = np.array([0, 5, 36]), np.array([3, 5, 0])
    assert found[cells].tolist() == matrix[cells].tolist()


def test_weak_point_36_ten_thousand_classes_need_less_than_a_gigabyte() -> None:
    code = (
        "import numpy as np, steelyard as sy; r = np.random.default_rng(0);"
        "y = r.integers(0, 10_000, 100_000);"
        "p = np.where(r.random(100_000) < .7, y, r.integers(0, 10_000, 100_000)); a = sy.assess(y, p);"
        "t = a.table(); s = str(a); print(len(t), len(s.splitlines()), a['weighted_kappa'].low < a['kappa'].high + 1,"
        "next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=True)  # noqa: S603  (our own code)
    size, lines, _, most = done.stdout.split()
    assert int(size) > 200_000
    assert int(lines) <= 60
    assert int(most) < 1_000_000  # kB


@pytest.mark.parametrize("classes", [60_000, 100_000, *([1_000_000] if FULL else [])])
def test_weak_point_36_a_hundred_thousand_classes_are_refused_before_memory_is_taken(classes: int) -> None:
    truth = np.arange(classes)
    with pytest.raises(TooLarge, match=rf"measures of {classes:,} classes take about .* measures=\['error'\]"):
        sy.assess(truth, truth)
    with pytest.raises(TooLarge, match="Ask for fewer measures"):
        sy.compare(truth, {"a": truth, "b": truth[::-1]})


def test_weak_point_36_what_the_hint_says_works() -> None:
    truth = np.arange(60_000)
    said = np.where(truth % 4, truth, (truth + 1) % 60_000)
    assert sy.assess(truth, said, measures=["error"])["error"].value == 0.25


def test_weak_point_36_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("t,p\n" + "".join(f"c{k},c{k}\n" for k in range(60_000)))
    asked = ["assess", str(file), "--truth", "t", "--assigned", "p"]
    assert main(asked) in (2, 3)
    said = capsys.readouterr().err
    assert "60,000 classes take about" in said and "--measures error" in " ".join(said.split())
    assert main([*asked, "--measures", "error"]) == 0


def test_little_memory_is_told_beside_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    from steelyard.results import evaluated

    monkeypatch.setattr(evaluated, "available", lambda: 10_000_000)
    truth = np.arange(5_000)
    with pytest.raises(TooLarge, match=r"5,000 classes take about .* and 10 MB of memory are free"):
        sy.assess(truth, truth)
    assert sy.assess(truth, truth, measures=["error"])["error"].value == 0.0
