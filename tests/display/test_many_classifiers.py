"""More classifiers than fit on a screen: what is shown of them, and that nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console

from steelyard import Comparison, compare
from steelyard.display.digest import comparison_digest
from steelyard.display.grids import TextGrid


def compared(classifiers: int) -> Comparison:
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 200)
    said = {f"m{place}": 0.2 * truth + 0.8 * random.random(200) for place in range(classifiers)}
    return compare(truth, said, event=1)


@pytest.fixture(scope="module")
def twelve() -> Comparison:
    return compared(12)


def test_they_stand_below_each_other(twelve: Comparison) -> None:
    table, _ = str(twelve).split("differences in error")
    rows = [line.split()[0] for line in table.splitlines() if line.startswith(" m") and "error" not in line]
    assert rows == list(twelve.models)
    assert f"table() and --csv have all {len(twelve.settings.measures)} measures" in table
    assert comparison_digest(twelve).main.columns[0] == "model"
    assert len(str(twelve).splitlines()) < 60


def test_only_differences_from_the_first_are_shown(twelve: Comparison) -> None:
    best = twelve.best("error")
    _, differences = str(twelve).split("differences in error")
    pairs = [line.split()[:2] for line in differences.splitlines() if line.startswith(" m")]
    assert len(pairs) == 11
    assert all(best in pair for pair in pairs)
    assert "… and 55 more" in differences
    assert len(twelve.differences("error")) == 66


def test_what_has_no_better_end_has_a_first_one_too() -> None:
    found = compare([0, 1, 1, 0], {f"m{place}": [0, 1, 0, 0] for place in range(10)}, event=1, measures=["prevalence"])
    assert "… and 36 more" in str(found)


def test_few_stand_side_by_side_with_all_their_differences() -> None:
    few = compared(4)
    assert "table() and --csv" not in str(few)
    assert "… and" not in str(few).split("differences in error")[1]
    assert comparison_digest(few).main.columns[0] == "measure"


def test_values_stand_above_intervals_where_both_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    grid = TextGrid(["measure", "lda", "qda"], [["kappa [not ill]", "0.464 [0.357, 0.554]", "0.512 [0.402, 0.611]"]])
    Console(width=50).print(grid)
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["kappa", "0.464", "0.512"] in words
    assert ["[not", "ill]", "[0.357,", "0.554]", "[0.402,", "0.611]"] in words
    Console(width=80).print(grid)
    assert "kappa [not ill]   0.464 [0.357, 0.554]   0.512 [0.402, 0.611]" in capsys.readouterr().out


def test_measures_that_do_not_fit_go_before_an_interval_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    grid = TextGrid(
        ["measure", "a", "b"], [[name, *["0.464 [0.357, 0.554]"] * 2] for name in ("error", "kappa", "AUC")]
    )
    for width, shown in ((90, 3), (60, 3), (45, 2), (25, 1)):
        Console(width=width).print(grid.turned("model"))
        out = capsys.readouterr().out
        assert [name in out for name in ("error", "kappa", "AUC")] == [place < shown for place in range(3)]
        assert out.count("[0.357, 0.554]") == 2 * shown
