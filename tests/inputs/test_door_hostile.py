"""Whatever is thrown at the door comes in sane, or is refused in words."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import steelyard as sy
from steelyard.core.errors import (
    MisalignedRows,
    SteelyardError,
    UnknownLabel,
    UnreadableFile,
    UnusableLabels,
    WrongShape,
    quoted,
)
from tests.effort import repeats

many = settings(max_examples=repeats(30, 120), suppress_health_check=list(HealthCheck))

TRUTH = ["a", "b", "a", "b"]
GUESS = ["a", "b", "b", "b"]


class Rude:
    """An object that raises whatever it is asked."""

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError("\x1b[31mno\x07")

    __array__ = __len__ = __iter__ = __getitem__ = __float__ = __eq__ = __bool__ = _refuse
    __hash__ = object.__hash__


class RudeTable(Rude):
    """One that claims to be a table, too."""

    columns = property(Rude._refuse)
    __arrow_c_stream__ = Rude._refuse


def outcome(call: Callable[[], sy.Assessment]) -> sy.Assessment | None:
    """Let the call succeed sanely or fail properly; anything else, a warning too, fails the test."""
    try:
        assessment = call()
    except SteelyardError as error:
        assert str(error).strip()
        assert str(error).isprintable(), repr(str(error))
        return None
    table = assessment.confusion()
    assert table.shape == (len(assessment.classes),) * 2
    assert (table >= 0).all()
    assert np.isclose(table.sum(), assessment.tally.sums.values[:, 1].sum(), rtol=1e-9)
    assert 0 < assessment.n < np.inf
    assert len(assessment.table()) > 0
    return assessment


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, 2**63, -(2**63) - 1, 2**64]),
    st.floats(),
    st.sampled_from([0.0, -0.0, 1.0, 0.25, 5e-324, 1e308]),
    st.text(max_size=5),
    st.text("a\x00\x1b\n\u202e\ud800", max_size=3),
    st.binary(max_size=4),
    st.decimals() | st.fractions() | st.complex_numbers(),
    st.dates() | st.datetimes() | st.timedeltas() | st.uuids(),
    st.sampled_from([pd.NA, pd.NaT, np.float32(0.5), np.int8(1), np.str_("a"), np.True_, np.datetime64("NaT", "s")]),
    st.builds(Rude) | st.builds(RudeTable) | st.builds(object),
)
KEYS = st.one_of(st.text(max_size=3), st.integers(), st.booleans(), st.none(), st.floats(), st.binary(max_size=2))
NESTED = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=10,
)
DTYPES = npst.scalar_dtypes() | npst.unicode_string_dtypes() | npst.byte_string_dtypes() | npst.array_dtypes()
ARRAYS = npst.arrays(DTYPES, npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))

ORDINARY: tuple[st.SearchStrategy[Any], ...] = (
    st.sampled_from("ab"),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from([0.0, 1.0]),
    st.floats(0, 1),
    st.floats(),
    st.text(max_size=2),
    st.integers(),
)


def objects(values: Sequence[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def if_possible(make: Callable[[Any], Any]) -> Callable[[list[Any]], Any]:
    """What cannot even be made cannot be handed in; a list can."""

    def made(values: list[Any]) -> Any:
        try:
            return make(values)
        except Exception:
            return values

    return made


HOLDERS: tuple[Callable[[list[Any]], Any], ...] = (
    list,
    tuple,
    deque,
    objects,
    if_possible(lambda values: pa.array(values, from_pandas=True)),
    if_possible(lambda values: pd.Series(values, dtype=object, index=range(len(values), 0, -1))),
    if_possible(pd.Series),
    if_possible(pd.Index),
    if_possible(lambda values: pl.from_arrow(pa.array(values, from_pandas=True))),
    if_possible(lambda values: np.ma.masked_array(np.array(values), np.arange(len(values)) % 2 == 1)),
    lambda values: (value for value in values),
    lambda values: dict(enumerate(values)),
    iter,
)


@st.composite
def columns(draw: st.DrawFn, rows: int | None = None) -> Any:
    """A column of values that are mostly of one kind, in anything that can hold a column."""
    element = draw(st.sampled_from(ORDINARY))
    odd = draw(st.sampled_from([st.nothing(), st.nothing(), st.none(), SCALARS]))
    size = draw(st.integers(0, 6)) if rows is None else rows
    values = draw(st.lists(element | odd, min_size=size, max_size=size))
    return draw(st.sampled_from(HOLDERS))(values)


ANYTHING = NESTED | ARRAYS | columns()


# --- words ----------------------------------------------------------------------------------------------------


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain", "'plain'"),
        ("a\x1b[31m\n\x07", r"'a\x1b[31m\n\x07'"),
        ("\u202e\ud800\u00ad", r"'\u202e\ud800\xad'"),
        ("é✓", "'é✓'"),
        ("x" * 1000, "'" + "x" * 58 + "…'"),
        ("'" * 60, '"' + "'" * 58 + '…"'),
        (list(range(1000)), str(list(range(1000)))[:60] + "…"),
        (np.zeros((2, 2)), r"array([[0., 0.],\n       [0., 0.]])"),
        pytest.param(10**5000, "<int>", id="huge"),
        (Unspeakable(), "<Unspeakable>"),
        (type("a\x1bb", (Unspeakable,), {})(), r"<a\x1bb>"),
    ],
)
def test_a_value_is_quoted_so_that_it_can_do_no_harm(value: Any, shown: str) -> None:
    assert quoted(value) == shown


def test_an_error_keeps_its_parts() -> None:
    error = UnknownLabel("'x' is not there", column="a\nb", row=3, mend="Look again")
    assert str(error) == r"column 'a\nb', row 3: 'x' is not there. Look again"
    moved = error.at(7)
    assert (type(moved), moved.column, moved.row, moved.mend) == (UnknownLabel, "a\nb", 7, "Look again")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (as a pool of processes does)
    assert (str(copy), copy.row, copy.column) == (str(error), 3, "a\nb")


def test_no_message_has_signs_that_a_terminal_obeys() -> None:
    assert str(SteelyardError("bad \x1b[31m", mend="\u202emend\n")) == r"bad \x1b[31m. \u202emend\n"


# --- anything at all ------------------------------------------------------------------------------------------


@many
@given(ANYTHING, ANYTHING)
def test_any_truth_and_prediction(truth: Any, prediction: Any) -> None:
    outcome(lambda: sy.assess(truth, prediction))


@many
@given(st.data(), st.integers(1, 6), st.sampled_from(["error", "drop"]))
def test_columns_of_equal_length(data: st.DataObject, rows: int, missing: Any) -> None:
    truth, prediction = data.draw(columns(rows)), data.draw(columns(rows))
    assessment = outcome(lambda: sy.assess(truth, prediction, missing=missing))
    if assessment is not None:
        assert assessment.n + assessment.dropped == rows


@many
@given(ANYTHING)
def test_any_prediction(prediction: Any) -> None:
    outcome(lambda: sy.assess(TRUTH, prediction, event="b"))


@many
@given(ANYTHING | st.dictionaries(st.text(max_size=3), ANYTHING | columns(4), max_size=3))
def test_any_comparison(predictions: Any) -> None:
    def first() -> sy.Assessment:
        comparison = sy.compare(TRUTH, predictions)
        return comparison[comparison.models[0]]

    outcome(first)


@many
@given(ANYTHING | columns(4))
def test_any_weight(weight: Any) -> None:
    outcome(lambda: sy.assess(TRUTH, GUESS, weight=weight))


@many
@given(ANYTHING | columns(4), st.sampled_from(["group", "by"]))
def test_any_group_or_slice(column: Any, option: Any) -> None:
    outcome(lambda: sy.assess(TRUTH, GUESS, **{option: column}))


@many
@given(ANYTHING, st.sampled_from(["scale", "event", "threshold", "missing"]))
def test_any_option(value: Any, option: Any) -> None:
    outcome(lambda: sy.assess(TRUTH, GUESS, **{option: value}))


@many
@given(st.lists(SCALARS, max_size=4) | ANYTHING, SCALARS)
def test_any_scale(classes: Any, event: Any) -> None:
    outcome(lambda: sy.assess(TRUTH, GUESS, scale=sy.Scale(classes, event)))


@many
@given(st.lists(SCALARS, max_size=3) | ANYTHING, st.lists(SCALARS, max_size=4), SCALARS, columns())
def test_any_continuum(boundaries: Any, classes: Any, sd: Any, truth: Any) -> None:
    outcome(lambda: sy.assess(truth, GUESS, scale=sy.Continuum(boundaries, classes, sd=sd)))


VALUES = [0.1, 0.7, 0.4, 0.9]
HALVES = sy.Continuum([0.5], ["a", "b"])


@many
@given(st.lists(st.floats() | st.none(), min_size=3, max_size=5) | ANYTHING, st.sampled_from(["sd", "sd_response"]))
def test_any_deviation(value: Any, option: Any) -> None:
    outcome(lambda: sy.assess(VALUES, GUESS, scale=HALVES, **{"sd": 0.1, option: value}))


@many
@given(st.lists(st.floats(), min_size=4, max_size=4) | ANYTHING, SCALARS | ANYTHING)
def test_any_response(mean: Any, spread: Any) -> None:
    outcome(lambda: sy.assess(VALUES, GUESS, scale=HALVES, sd=0.1, response=(mean, spread)))
    outcome(lambda: sy.assess(VALUES, GUESS, scale=HALVES, sd=0.1, response=mean))


@many
@given(st.lists(st.floats(), min_size=4, max_size=4), st.floats(0, 1e300), st.floats(), st.floats())
def test_any_measured_values(values: Any, sd: float, boundary: float, expected: float) -> None:
    response = ([expected] * 4, 0.5)
    known: dict[str, Any] = {"sd": sd, "sd_response": sd, "response": response}
    outcome(lambda: sy.assess(values, GUESS, scale=sy.Continuum([boundary], ["a", "b"]), **known))


@many
@given(ANYTHING, NESTED, NESTED)
def test_any_frame_and_column(frame: Any, truth: Any, assigned: Any) -> None:
    if not isinstance(frame, str):  # text is a pattern of file names
        outcome(lambda: sy.assess(frame, truth=truth, assigned=assigned))


@many
@given(NESTED, NESTED, NESTED)
def test_any_column_of_a_sound_frame(truth: Any, membership: Any, by: Any) -> None:
    frame = pa.table({"y": TRUTH, "p_a": [1.0, 0.0, 1.0, 0.0], "p_b": [0.0, 1.0, 0.0, 1.0]})
    outcome(lambda: sy.assess(frame, truth=truth, membership="p_*"))
    outcome(lambda: sy.assess(frame, truth="y", membership=membership))
    outcome(lambda: sy.assess(frame, truth="y", membership="p_*", by=by))


def test_an_index_of_another_kind_is_another_index() -> None:
    truth = pd.Series(["a", "b", "a"], index=list("xyz"))
    said = pd.Series(["a", "b", "a"], index=pd.MultiIndex.from_tuples([(1, 2), (2, 3), (3, 4)]))
    for one, other in ((truth, said), (said, truth)):
        with pytest.raises(MisalignedRows, match="row 0"):
            sy.assess(one, other)


def test_the_row_of_an_unusable_category_is_one_that_has_it() -> None:
    with pytest.raises(UnusableLabels, match=r"row 1: 0\.5"):
        sy.assess(pd.Series(pd.Categorical([None, 0.5, 1.0], categories=[0.5, 1.0])), [1, 1, 1])


def test_whole_weights_may_be_categories() -> None:
    weight = [5, 1, 2] * 4
    plain, coded = (
        sy.assess(["a", "b", "a"] * 4, ["a", "b", "b"] * 4, weight=one)["error"]
        for one in (weight, pd.Series(weight, dtype="category"))
    )
    assert (coded.n, coded.se) == (plain.n, plain.se)


def test_labels_may_take_all_of_64_bits() -> None:
    labels = np.array([2**63 + 1, 2**64 - 1] * 5, dtype=np.uint64)
    for truth in (labels, labels.astype(object), labels.tolist()):
        found = sy.assess(truth, labels)
        assert found.classes == (2**63 + 1, 2**64 - 1)
        assert 2**64 - 1 in found.table().to_pandas()["class"].dropna().tolist()


@pytest.mark.parametrize(
    ("truth", "columns", "words"),
    [
        ([0, 1, -100, 1], 2, "2 membership columns for 3 classes: -100 has no column"),
        ([0, 1, 1, 3], 5, "5 membership columns for 3 classes: 2, 4 are never seen"),
        ([0, 1, 1, 1], 3, "3 membership columns for 2 classes: 2 is never seen"),
        (["a", "b", "b", "b"], 3, "3 membership columns for 2 classes. "),
    ],
)
def test_classes_that_do_not_go_with_the_columns_are_named(truth: list[Any], columns: int, words: str) -> None:
    with pytest.raises(WrongShape, match=words):
        sy.assess(truth, np.full((4, columns), 1 / columns))


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_arrays_on_disk_are_loaded_first(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"a.{ending}").write_bytes(b"")
    with pytest.raises(UnreadableFile, match=r"assess\(numpy\.load"):
        sy.assess(tmp_path / f"a.{ending}", truth="y", assigned="m")
