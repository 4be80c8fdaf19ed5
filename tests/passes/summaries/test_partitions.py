"""Partition spaces of rows that were let go, held against those of rows at hand."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.core.errors import BadOption, DamagedFile, TooLarge
from steelyard.data.engines import Engine
from steelyard.families.partition.fitting import Regions
from steelyard.families.partition.rows import Arranged, joined, ties_at
from steelyard.families.partition.scaling import orders
from steelyard.families.summed.recipe import Named
from steelyard.families.summed.storing import Arrays, state_facts, state_from
from steelyard.passes.tally import Tally
from tests.effort import repeats

from .test_calibrations import near, rounded, same
from .test_summed import shuffled_files, three_classes, two_classes, written

ROWS = repeats(600, 1500)  # to scale few at a time takes long
NAMES = ("partition_accuracy", "separation", "confidence")
WAYS = ("", "scaling='raw'", "scaling='klar'", "scaling='literal'", "depth=2", "depth=2, floor=240")
TIED = ("ties='joined'", "depth=2, ties='joined'", "depth=2, ties='joined', floor=240", "scaling='raw', ties='joined'")


@pytest.fixture(autouse=True)
def few_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.passes.tally.MOST_ROWS", ROWS * 2 // 3)


def measures(*ways: str) -> list[str]:
    """All measures, scaled in some ways."""
    return [f"{name}({way})" if way else name for way in ways for name in NAMES]


def agree(found: sy.Assessment, held: sy.Assessment) -> None:
    """See that two assessments say the same."""
    assert found.tally.summaries is not None
    mine, yours = found.table(), held.table()
    same(mine, yours, ("value",), rel=1e-9)
    same(mine, yours, ("low", "high", "se"), rel=1e-6)
    for column in ("note", "method"):
        assert mine[column] == yours[column]


@pytest.mark.parametrize("extra", [{}, {"weight": "weight"}, {"group": "batch"}])
def test_three_classes(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns = three_classes(ROWS)
    given: dict[str, Any] = {"truth": "truth", "membership": "q_*", "measures": measures(*WAYS), **extra}
    agree(sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given))


@pytest.mark.parametrize("decimals", [1, 2])
def test_ties(tmp_path: Path, decimals: int) -> None:
    columns = rounded(three_classes(ROWS), decimals)
    for name in ("p", "q"):
        columns[f"{name}_z"] = np.round(columns[f"{name}_z"], decimals)
    given: dict[str, Any] = {"truth": "truth", "membership": "q_*", "measures": measures("", *TIED)}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    agree(found, held)
    assert any("tied" in note for note in found.table()["note"])


EXTRAS: list[dict[str, Any]] = [
    {},
    {"weight": "weight"},
    {"weight": "times", "weight_kind": "frequency"},
    {"by": "site"},
]


@pytest.mark.parametrize("extra", [*EXTRAS, {"by": "site", "group": "batch", "weight": "weight"}])
def test_two_classes(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns = rounded(two_classes(ROWS), 1)
    given: dict[str, Any] = {"truth": "truth", "membership": "b", "event": "yes", **extra}
    given["measures"] = measures("", "scaling='raw'", "ties='joined'")
    agree(sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given))


@pytest.mark.parametrize("extra", [{}, {"group": "batch"}, {"weight": "weight"}])
def test_differences(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns = three_classes(1500)
    given: dict[str, Any] = {"truth": "truth", "measures": [*measures("", "depth=2"), "log_score"], **extra}
    found = sy.compare(written(tmp_path, columns), {"p": "p_*", "q": "q_*"}, **given)
    held = sy.compare(pa.table(columns), {"p": "p_*", "q": "q_*"}, **given)
    mine, yours = found.differences(), held.differences()
    same(mine, yours, ("difference",), rel=1e-8)
    same(mine, yours, ("se",), rel=1e-6)
    near(mine, yours, ("low", "high"), 0.12)  # skewness widens those of rows at hand, of few more
    assert len(found.table(simultaneous=True)) == len(held.table(simultaneous=True))


def test_the_order_and_the_files_of_rows_do_not_matter(tmp_path: Path) -> None:
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "group": "batch"}
    given["measures"] = measures("depth=2", "ties='joined'")
    folders = shuffled_files(tmp_path, rounded(three_classes(ROWS)))
    results = [sy.assess(folder, **given).table() for folder in folders]
    for other in results[1:]:
        same(results[0], other, rel=1e-8)


def test_many_classes_and_several_levels_of_ties(tmp_path: Path) -> None:
    """Votes of a few neighbours: classes are tied on every level, and which ones differs from part to part."""
    rng = np.random.default_rng(3)
    votes = rng.multinomial(6, [0.3, 0.25, 0.2, 0.15, 0.1], ROWS) / 6
    columns: dict[str, Any] = {f"p_{label}": votes[:, place] for place, label in enumerate("abcde")}
    columns["truth"] = np.array(list("abcde"))[(rng.random(ROWS)[:, None] > votes.cumsum(axis=1) + 1e-9).sum(axis=1)]
    columns["site"] = np.where(votes[:, 4] > 0, "some", "none")
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "by": "site"}
    given["measures"] = measures("depth=3", "depth=3, ties='joined'", "depth=2, ties='joined', floor=40")
    agree(sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given))


def odd(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows of which little can be said, and what is said of them."""
    extra: dict[str, Any] = {}
    columns = rounded(three_classes(ROWS))
    if name == "few":
        columns["site"] = np.repeat(["big", "six", "tiny", "one"], [ROWS - 10, 6, 3, 1])
        extra = {"by": "site"}
    elif name == "never true":
        columns["truth"] = np.where(columns["truth"] == "z", "x", columns["truth"])
        extra = {"scale": sy.Scale(["x", "y", "z"])}
    elif name == "one cluster":
        columns["batch"] = np.zeros(ROWS, np.int64)
        extra = {"group": "batch"}
    elif name == "weightless":
        columns["weight"] = np.where(np.arange(ROWS) % 100, columns["weight"], 0.0)
        extra = {"weight": "weight"}
    elif name == "alike":
        columns |= {f"q_{label}": np.full(ROWS, 1 / 3) for label in "xyz"}
    elif name == "right":
        columns |= {f"q_{label}": (columns["truth"] == label).astype(float) for label in "xyz"}
    return columns, extra


@pytest.mark.parametrize("name", ["few", "never true", "one cluster", "weightless", "alike", "right"])
def test_odd_rows(tmp_path: Path, name: str) -> None:
    columns, extra = odd(name)
    asked = ["partition_accuracy", "separation(depth=2)", "confidence(ties='joined')", "confidence(scaling='raw')"]
    asked += ["calibration_error", "calibration_error(bins=1)", "top_calibration_error"]
    given: dict[str, Any] = {"truth": "truth", "membership": "q_*", "measures": asked, **extra}
    agree(sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given))


def test_all_families_at_once(tmp_path: Path) -> None:
    """Rankings ask for finer cells, bins and regions for what comes next: rows are seen for all of them together."""
    columns = two_classes(ROWS)
    for name in ("a", "b"):
        columns[name] = 0.5 + 1e-6 * (columns[name] - 0.5)
    asked = ["auc", "error", "log_score", "calibration_error", "partition_accuracy"]
    given: dict[str, Any] = {"truth": "truth", "event": "yes", "measures": asked, "by": "site"}
    found = sy.compare(written(tmp_path, columns), {"a": "a", "b": "b"}, **given)
    held = sy.compare(pa.table(columns), {"a": "a", "b": "b"}, **given)
    assert found.tally.summaries is not None
    near(found.table(), held.table())
    near(found.differences(), held.differences(), ("difference", "se"))
    for label in held.slices:
        near(found.slices[label].differences(), held.slices[label].differences(), ("difference", "se"))


# --- what cannot be had -----------------------------------------------------------------------------------------


def test_rows_that_are_tied_at_random_must_be_at_hand(tmp_path: Path) -> None:
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "measures": measures("ties='random'")}
    columns = rounded(three_classes(ROWS), 1)
    for name in ("p", "q"):
        columns[f"{name}_z"] = np.round(columns[f"{name}_z"], 1)
    path = written(tmp_path, columns)
    assert sy.assess(path, **given).tally.scores is not None  # read as a whole
    with pytest.raises(TooLarge, match=r"rows are tied.*ties='first'"):
        sy.assess(path, **given, engine="local")
    untied = three_classes(ROWS)
    found = sy.assess(written(tmp_path, untied), **given, engine="local")
    agree(found, sy.assess(pa.table(untied), **given))


def test_what_needs_memberships_says_so(tmp_path: Path) -> None:
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*"}
    path = written(tmp_path, three_classes(ROWS))
    found = sy.assess(path, **given, measures=measures(""))
    with pytest.raises(TooLarge, match="all memberships"):
        found.partition.scaled("default")
    with pytest.raises(BadOption, match="klaR joins no regions"):
        sy.assess(path, **given, measures=measures("scaling='klar', ties='joined'"))


def test_regions_that_are_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.families.partition.looks.MOST_NUMBERS", 50)
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "measures": measures("depth=2")}
    with pytest.raises(TooLarge, match="too many regions of depth 2"):
        sy.assess(written(tmp_path, three_classes(ROWS)), **given)


# --- states -----------------------------------------------------------------------------------------------------


def test_tallies_are_saved_and_merged(tmp_path: Path) -> None:
    columns, asked = rounded(three_classes(ROWS)), measures("", "scaling='raw'", "depth=2, ties='joined'")
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "measures": asked}
    whole = sy.assess(written(tmp_path, columns, 2), **given)
    whole.tally.save(tmp_path / "whole.tally")
    loaded = sy.assess_tally(Tally.load(tmp_path / "whole.tally"), measures=asked)
    same(loaded.table(), whole.table(), rel=1e-12)
    assert loaded.table()["note"] == whole.table()["note"]
    parts = [sy.assess(str(tmp_path / f"{place}.parquet"), **given).tally for place in range(2)]
    merged = sy.assess_tally(parts[0] + parts[1], measures=asked)
    assert np.isnan(merged["confidence"].value)
    assert "assess the files together" in merged["confidence"].note
    raw = merged["confidence(scaling='raw')"]
    assert raw.value == pytest.approx(whole["confidence(scaling='raw')"].value, rel=1e-12)
    assert "was not summed" in raw.note
    left = sy.assess_tally(parts[0] + parts[1] - parts[1], measures=asked)["confidence(scaling='raw')"]
    first = sy.assess_tally(parts[0], measures=asked)["confidence(scaling='raw')"]
    assert left.value == pytest.approx(first.value, rel=1e-9)


def test_everything_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to be done goes to other machines, and what was found comes back."""
    asked = ["partition_accuracy", "confidence(depth=2, ties='joined')", "calibration_error", "auc"]
    given: dict[str, Any] = {"truth": "truth", "measures": asked, "group": "batch"}
    path = written(tmp_path, three_classes(ROWS))
    here = sy.compare(path, {"p": "p_*", "q": "q_*"}, **given)
    fold = Engine.fold

    def far(engine: Engine, work: Any, shares: Any, *done: Any) -> Any:
        def there(share: Any) -> Any:
            return pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(work))(share)))  # noqa: S301

        return fold(engine, there, shares, *done)

    monkeypatch.setattr(Engine, "fold", far)
    elsewhere = sy.compare(path, {"p": "p_*", "q": "q_*"}, **given)
    same(elsewhere.table(), here.table(), rel=1e-12)
    same(elsewhere.differences(), here.differences(), ("difference", "low", "high", "se"), rel=1e-9)


def regions(rows: int, seed: int = 0) -> Regions:
    rng = np.random.default_rng(seed)
    memberships = rng.dirichlet(np.ones(4), rows)
    arranged = Arranged.of(memberships, orders(memberships, 2))
    return Regions.of(arranged, rng.integers(0, 4, rows), rng.random(rows), np.ones(rows))


def test_what_was_added_can_be_taken_out() -> None:
    one, other = regions(300), regions(200, 1)
    left = one + other + -other
    assert left.sums.keys() == one.sums.keys()
    for prefix, sums in one.sums.items():
        for name in ("rows", "mass", "classes", "left", "mean", "scatter"):
            mine, yours = getattr(left.sums[prefix], name), getattr(sums, name)
            np.testing.assert_allclose(mine, yours, rtol=1e-9, atol=1e-9)
    assert not (one + -one).sums


def test_ties_of_parts_are_those_of_the_whole() -> None:
    memberships = np.random.default_rng(5).multinomial(5, np.full(5, 0.2), 400) / 5
    halves = memberships[::2], memberships[1::2]
    tied: dict[tuple[int, ...], Any] = {}
    for level in range(3):
        tied |= (Named(ties_at(halves[0], level, tied)) + Named(ties_at(halves[1], level, tied))).found
    order, blocks = joined(memberships, 3)
    for half, rows in zip(halves, (order[::2], order[1::2]), strict=True):
        placed, found = joined(half, 3, tied)
        assert (placed == rows).all()
        assert found.items() <= blocks.items()


def test_states_come_back_and_damaged_ones_do_not() -> None:
    known = regions(100)
    state = Named({("regions", 0, 2, "first"): known, ("sums", 0, ("raw", 1)): Named({(): np.ones(3)})})
    arrays = Arrays()
    facts = state_facts(state, arrays)
    loaded = state_from(facts, arrays)
    assert loaded.found.keys() == state.found.keys()
    for prefix, sums in known.sums.items():
        for mine, yours in zip(loaded.found["regions", 0, 2, "first"].sums[prefix], sums, strict=True):
            np.testing.assert_array_equal(mine, yours)
    plain = state_facts(known, arrays)
    for name, wrong in (
        ("prefixes", [[0, 9]]),
        ("depth", 4),
        ("classes", 3),
        ("prefixes", plain["state"]["prefixes"][1:]),
    ):
        with pytest.raises(ValueError, match="cannot be"):
            state_from({**plain, "state": {**plain["state"], name: wrong}}, arrays)
    arrays.found[0] = np.full_like(arrays.found[0], np.nan)
    with pytest.raises(ValueError, match="cannot be"):
        state_from(facts, arrays)


def test_a_damaged_tally_is_refused(tmp_path: Path) -> None:
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "measures": measures("")}
    sy.assess(written(tmp_path, three_classes(ROWS)), **given).tally.save(tmp_path / "a.tally")
    content = (tmp_path / "a.tally").read_bytes()
    assert b"partition regions" in content
    (tmp_path / "a.tally").write_bytes(content.replace(b"partition regions", b"partition Regions"))
    with pytest.raises(DamagedFile, match="changed or cut off"):
        Tally.load(tmp_path / "a.tally")
