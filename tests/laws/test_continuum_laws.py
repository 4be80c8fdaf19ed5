"""What must hold for every measure of classes from a continuum in the registry: all are looked at together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import stdtrit

import steelyard.families.continuum.columns
from steelyard import Assessment, Comparison, Continuum, Tally, all_measures, assess, assess_tally, compare, find
from steelyard.families.continuum.evaluation import ContinuumEvaluation
from steelyard.inference.evaluation import key_of
from steelyard.inference.settings import Method
from steelyard.inputs.dataset import Knowledge
from steelyard.inputs.validate import Validator
from steelyard.maths.kernels import Closed
from steelyard.states.statistics import CONTINUUM
from tests.effort import in_turn, repeats

LETTERS = "abcde"
REGISTERED = [entry for entry in all_measures().values() if entry.statistic is CONTINUUM]
CHANGED = [
    find(name, limit=limit) for name in ("guarded_error", "guarded_sqerr") for limit in (0.0, 1e9)
]  # never believed, and always
MEASURES = [*REGISTERED, *CHANGED]
LABELS = [measure.label for measure in MEASURES]
STEADY = np.array([label not in ("guarded_error", "guarded_sqerr") for label in LABELS])  # others can jump
COLUMNS = ("value", "low", "high", "se")
FLAT = 3e-5  # of an interval that rounding can move a bound by where a cubic is flat: its cube root, and some
SOME = settings(max_examples=repeats(4, 30))


@dataclass(frozen=True)
class Estimated:
    """A standard deviation that is only estimated, and the standard error of its square."""

    sd: float
    error: float


@dataclass(frozen=True)
class Case:
    """Measured values, assigned classes, and all that can be known about them."""

    value: Any
    assigned: Any
    ends: tuple[float, ...]
    sd: Any
    blur: Any
    expected: Any
    spread: Any
    closed: Closed = "left"

    @property
    def scale(self) -> Continuum:
        return Continuum(self.ends, list(LETTERS[: len(self.ends) - 1]), closed=self.closed)

    @property
    def known(self) -> dict[str, Any]:
        return {"sd": self.sd, "sd_response": self.blur, "response": (self.expected, self.spread)}

    @property
    def labels(self) -> Any:
        return np.array(list(LETTERS))[self.assigned]

    def __len__(self) -> int:
        return len(self.value)

    def part(self, rows: Any) -> Case:
        """Some of the rows."""
        columns = ("value", "assigned", "sd", "blur", "expected", "spread")
        chosen = {name: getattr(self, name)[rows] for name in columns if np.ndim(getattr(self, name))}
        return replace(self, **chosen)

    def repeated(self, times: Any) -> Case:
        return self.part(np.repeat(np.arange(len(self)), times))


# --- data -----------------------------------------------------------------------------------------------------


def column(draw: st.DrawFn, rows: int, numbers: Any) -> Any:
    return np.array(draw(st.lists(numbers, min_size=rows, max_size=rows)), dtype=float)


@st.composite
def measured(draw: st.DrawFn, least: int = 1, infinite: bool | None = None) -> Case:
    """Rows of two to four classes; values often on a boundary, deviations often 0, by row or for all."""
    rows = draw(st.integers(least, 16))
    inner = sorted(draw(st.lists(st.integers(-4, 4), min_size=1, max_size=3, unique=True)))
    reach = draw(st.booleans()) if infinite is None else infinite
    ends = (-math.inf if reach else -11.0, *map(float, inner), math.inf if reach else 11.0)
    deviation = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
    by_row = draw(st.booleans())
    return Case(
        column(draw, rows, st.integers(-40, 40)) / 4,
        np.array(draw(st.lists(st.integers(0, len(inner)), min_size=rows, max_size=rows))),
        ends,
        column(draw, rows, deviation) if by_row else draw(deviation),
        column(draw, rows, deviation) if by_row else draw(deviation),
        column(draw, rows, st.integers(-40, 40)) / 4,
        column(draw, rows, deviation),
        draw(st.sampled_from(("left", "right"))),
    )


def drawn(rows: int, seed: int, classes: int = 3, off: float = 0.4) -> Case:
    """Responses that covariates tell in part, measured with error; and a rule that is often right."""
    random = np.random.default_rng(seed)
    expected = 1.5 * random.standard_normal(rows)
    value = expected + random.normal(0, 0.3, rows) + random.normal(0, 0.4, rows)
    ends = (-math.inf, *(np.arange(classes - 1) * 0.7), math.inf)
    rule = np.searchsorted(ends[1:-1], expected + random.normal(0, off, rows))
    return Case(value, rule, ends, 0.4, 0.3, expected + random.normal(0, 0.05, rows), np.full(rows, 0.31))


def other_rule(case: Case, seed: int = 1, share: float = 0.5) -> Any:
    """Another classifier, which agrees with the first on some rows."""
    random = np.random.default_rng(seed)
    other = random.integers(0, len(case.ends) - 1, len(case))
    return np.where(random.random(len(case)) < share, case.assigned, other)


# --- how they are assessed ------------------------------------------------------------------------------------


def of(case: Case, **options: Any) -> Assessment:
    return assess(case.value, case.labels, **{"scale": case.scale, "measures": MEASURES, **case.known, **options})


def pair(case: Case, assigned: Any, **options: Any) -> Comparison:
    both = {"x": case.labels, "y": np.array(list(LETTERS))[assigned]}
    return compare(case.value, both, **{"scale": case.scale, "measures": MEASURES, **case.known, **options})


def tallied(case: Case, **options: Any) -> Tally:
    known = Knowledge(case.sd, case.blur, (case.expected, case.spread))
    return Tally.of(Validator(scale=case.scale, knowledge=known, **options).validate(case.value, {"m": case.labels}))


def evaluated(case: Case, **options: Any) -> ContinuumEvaluation:
    return of(case, **options).continuum


def columns(found: Assessment) -> dict[str, Any]:
    """The figures of all measures, in the order of the list."""
    results = found.part(CONTINUUM).results
    figures = (results.value, results.low, results.high, results.errors.plain)
    return dict(zip(COLUMNS, figures, strict=True))


def assert_same(
    left: dict[str, Any], right: dict[str, Any], tolerance: float = 1e-9, least: float = 1e-10, root: float = 1e-6
) -> None:
    """The same but for rounding.

    A root makes 1e-8 of 1e-16 where it is small, and any slope; bounds have a root of rounding in them, too, where
    the skewness makes the cubic flat.
    """
    rooted = np.array([label.endswith("_rmse") for label in LABELS])
    steep = rooted & (np.abs(left["value"]) < 1e-4)
    slack = np.where(rooted, max(least, root), least)
    for name in COLUMNS:
        bent = FLAT * np.nan_to_num(right["high"] - right["low"]) if name in ("low", "high") else 0.0
        with np.errstate(invalid="ignore"):
            off = np.abs(left[name] - right[name]) > slack + bent + tolerance * np.abs(right[name])
        off |= np.isnan(left[name]) != np.isnan(right[name])
        pairs = zip(LABELS, left[name].tolist(), right[name].tolist(), (off & ~steep).tolist(), strict=True)
        assert not [(label, one, other) for label, one, other, wrong in pairs if wrong], name
    assert_allclose(left["value"][steep], right["value"][steep], rtol=0, atol=1e-4)


def settled(case: Case) -> bool:
    """Whether rounding cannot turn a guarded estimate round, nor the bounds of the true error, nor a root."""
    found = evaluated(case)
    means = found.means
    doubts = [found.doubt(name) for name in ("doubt_wrong", "doubt_distance")]
    near = [abs(abs(doubt) - 1.5) for doubt in doubts] + [abs(doubt) for doubt in doubts if doubt]
    near += [abs(means["wrong"] - means["unsure"]), abs(means["wrong"] + means["unsure"] - 1)]
    near += [abs(means["distance"] - means["noise"])] if means["distance"] else []
    return min(near) > 1e-6


# --- parts and wholes -----------------------------------------------------------------------------------------


@given(case=measured(), cut=st.integers(0, 16))
@SOME
def test_parts_merged_are_the_whole(case: Case, cut: int) -> None:
    assume(settled(case))
    rows = np.arange(len(case))
    cut, weight = min(cut, len(rows)), 1 + rows % 3
    whole, empty = tallied(case, weight=weight), Tally.empty(case.scale, ["m"])
    head, tail = (
        tallied(case.part(piece), weight=weight[piece]) if len(rows[piece]) else empty
        for piece in (slice(cut), slice(cut, None))
    )
    expected = columns(assess_tally(whole, measures=MEASURES))
    for merged in (head + tail, tail + head, whole + empty, empty + whole, whole + whole - whole):
        assert_same(columns(assess_tally(merged, measures=MEASURES)), expected)


@given(case=measured(least=2), cut=st.integers(1, 15))
@SOME
def test_what_is_subtracted_is_gone(case: Case, cut: int) -> None:
    cut = min(cut, len(case) - 1)
    whole, head, tail = (tallied(each) for each in (case, case.part(slice(cut)), case.part(slice(cut, None))))
    assume(settled(case.part(slice(cut, None))))
    left, sought = (columns(assess_tally(each, measures=MEASURES)) for each in (whole - head, tail))
    assert_same(left, sought)


@given(case=measured(), uncertain=st.booleans())
@SOME
def test_saving_and_loading_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, case: Case, uncertain: bool
) -> None:
    """To the last bit, also what every row has of its own, and how sure the deviations are."""
    rows, path = np.arange(len(case)), tmp_path_factory.mktemp("tally") / "one.tally"
    case = replace(case, sd=Estimated(0.5, 0.125), blur=Estimated(0.25, 0.03)) if uncertain else case
    whole = tallied(case, group=rows % 5, by=rows % 2, weight=0.5 + rows % 3)
    whole.save(Path(path), rows=True)  # sorted rows add up to the same but for rounding
    loaded = Tally.load(path)
    before, after = (assess_tally(each, measures=MEASURES) for each in (whole, loaded))
    pairs = [(before, after), *[(before.slices[label], after.slices[label]) for label in before.slices]]
    for one, other in pairs:
        for name in COLUMNS:
            np.testing.assert_array_equal(columns(one)[name], columns(other)[name])
    assert loaded.scores is not None
    assert loaded.scores.measured is not None
    assert loaded.scores.measured.errors == ((0.125, 0.03) if uncertain else (0, 0))
    assert loaded.given == whole.given


@given(case=measured(), times=st.integers(2, 4))
@SOME
def test_a_whole_weight_is_the_row_so_many_times(case: Case, times: int) -> None:
    weight = 1 + np.arange(len(case)) % times
    repeated = case.repeated(weight)
    assume(settled(repeated))
    by_weight, by_rows = of(case, weight=weight, weight_kind="frequency"), of(repeated)
    assert_same(columns(by_weight), columns(by_rows))
    assert [by_weight[name].note for name in LABELS] == [by_rows[name].note for name in LABELS]


@given(case=measured(least=2))
@SOME
def test_a_row_that_weighs_nothing_is_no_row(case: Case) -> None:
    assume(settled(case))
    more = case.part(np.append(np.arange(len(case)), [0, len(case) - 1]))
    weight = np.append(np.ones(len(case), int), [0, 0])
    assert_same(columns(of(more, weight=weight)), columns(of(case)))


@given(case=measured(), factor=st.floats(0.01, 100))
@SOME
def test_the_unit_of_sampling_weights_does_not_matter(case: Case, factor: float) -> None:
    weight = np.random.default_rng(len(case)).uniform(0.5, 2, len(case))
    once = of(case, weight=weight)
    assume(settled_doubts(once.continuum))
    assert_same(columns(once), columns(of(case, weight=weight * factor)), 1e-6, least=1e-7)


def settled_doubts(evaluation: ContinuumEvaluation) -> bool:
    doubts = [abs(evaluation.doubt(name)) for name in ("doubt_wrong", "doubt_distance")]
    return all(abs(doubt - 1.5) > 1e-6 and (doubt > 1e-6 or doubt == 0) for doubt in doubts)


@given(case=measured(), random=st.randoms())
@SOME
def test_the_order_of_rows_does_not_matter(case: Case, random: Any) -> None:
    assume(settled(case))
    order = list(range(len(case)))
    random.shuffle(order)
    assert_same(columns(of(case)), columns(of(case.part(order))))


@given(case=measured(least=2), parts=st.integers(1, 3))
@SOME
def test_a_slice_is_assessed_as_if_it_were_alone(case: Case, parts: int) -> None:
    part, cluster = np.arange(len(case)) % parts, np.arange(len(case)) // 2
    together = of(case, by=part, group=cluster)
    for label, sliced in together.slices.items():
        here = part == label
        assert_same(columns(sliced), columns(of(case.part(here), group=cluster[here])), 1e-12)


def test_an_estimate_is_the_same_alone_as_in_the_table() -> None:
    """A lookup computes nothing but what is asked for."""
    case = drawn(80, 1)
    table = {row["measure"]: row for row in of(case).table()}
    alone = of(case)
    assert alone.continuum.one_by_one
    for label in LABELS:
        found, row = alone[label], table[label]
        figures = [found.value, found.low, found.high, found.se, found.n]
        assert_allclose(figures, [row[name] for name in (*COLUMNS, "n")], rtol=1e-12)
        assert (found.note, found.method) == (row["note"], row["method"])


def test_columns_that_are_not_kept_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    case = drawn(80, 2)
    expected = columns(of(case))
    monkeypatch.setattr(steelyard.families.continuum.columns, "MOST_NUMBERS", 10)
    assert_same(columns(of(case)), expected, 1e-12)


def test_many_rows_are_assessed_as_their_parts_are() -> None:
    """In several passes, side by side, as few rows are in one."""
    case = drawn(150_000, 3)
    found = evaluated(case).means
    parts = [evaluated(case.part(slice(start, start + 5000))).means for start in range(0, 150_000, 5000)]
    for name, mean in found.items():
        assert mean == pytest.approx(np.mean([part[name] for part in parts]), rel=1e-10), name


# --- units and mirrors ----------------------------------------------------------------------------------------


def power_of(label: str) -> int:
    """With which power of its unit a measure grows."""
    name = find(label).name
    return 2 if "sqerr" in name else 1 if name.endswith("rmse") else 0


def scaled(case: Case, factor: float, shift: float = 0.0) -> Case:
    return replace(
        case,
        value=factor * case.value + shift,
        expected=factor * case.expected + shift,
        ends=tuple(factor * end + shift for end in case.ends),
        **{name: factor * getattr(case, name) for name in ("sd", "blur", "spread")},
    )


@given(case=measured(), power=st.integers(-8, 8))
@SOME
def test_errors_know_no_unit_and_squared_errors_have_its_square(case: Case, power: int) -> None:
    assume(settled(case))
    factor = 2.0**power
    powers = factor ** np.array([power_of(label) for label in LABELS])
    here, there = columns(of(case)), columns(of(scaled(case, factor)))
    assert_same({name: there[name] / powers for name in COLUMNS}, here)


@given(case=measured(), shift=st.integers(-64, 64))
@SOME
def test_where_zero_is_does_not_matter(case: Case, shift: int) -> None:
    assume(settled(case))
    assert_same(columns(of(case)), columns(of(scaled(case, 1.0, shift))))


@given(case=measured())
@SOME
def test_a_mirror_changes_nothing(case: Case) -> None:
    """Values turned round, boundaries too, and the other end of each interval is closed."""
    assume(settled(case))
    turned = replace(
        case,
        value=-case.value,
        expected=-case.expected,
        ends=tuple(-end for end in case.ends[::-1]),
        assigned=len(case.ends) - 2 - case.assigned,
        closed="right" if case.closed == "left" else "left",
    )
    assert_same(columns(of(case)), columns(of(turned)))


# --- the ends -------------------------------------------------------------------------------------------------

BETTER = [measure.label for measure in MEASURES if measure.better == "lower"]
OF_LABELS_ONLY = ("adjusted_error", "apparent_sqerr", "adjusted_sqerr", "apparent_rmse", "adjusted_rmse")


def perfect(case: Case) -> Case:
    """Every row assigned to the class of what was measured."""
    return replace(case, assigned=case.scale.cut(case.value))


@given(case=measured(least=2))
@SOME
def test_a_perfect_classifier_reaches_the_better_end_where_nothing_is_doubtful(case: Case) -> None:
    exact = replace(perfect(case), sd=0.0, blur=0.0, expected=case.value, spread=np.zeros(len(case)))
    found = of(exact)
    for label in BETTER:
        assert found[label].value == 0, label
        assert found[label].low <= 0 <= found[label].high, label
    for label in ("label_error", "label_sqerr", "minimal_error", "minimal_sqerr", "model_minimal_error"):
        assert (found[label].value, found[label].low, found[label].high) == (0, 0, 0), label


@given(case=measured(least=2))
@SOME
def test_a_perfect_classifier_has_no_apparent_and_no_adjusted_error(case: Case) -> None:
    """Which does not prove that it never will have; how far off it would be, the distances to boundaries tell."""
    found = of(perfect(case))
    nearest = np.abs(case.value[:, None] - np.array(case.ends)).min(axis=1)
    for label in OF_LABELS_ONLY:
        assert found[label].value == 0, label
        if label.endswith("_error") or np.median(nearest) > 0:
            assert found[label].high > 0, label
    bounds, doubtful = found.true_error_bounds, found["label_error"].value
    assert [bound.value for bound in bounds] == pytest.approx([doubtful, min(doubtful, 2 - doubtful)])


@given(case=measured(), level=st.sampled_from([0.5, 0.9, 0.99]))
@SOME
def test_intervals_hold_the_value_and_stay_in_the_span(case: Case, level: float) -> None:
    found = columns(of(case, level=level))
    known = ~np.isnan(found["value"])
    least, most = np.array([measure.span for measure in MEASURES])[known].T
    value, low, high = (found[name][known] for name in ("value", "low", "high"))
    assert not np.isnan(low).any()
    assert not np.isnan(high).any()
    assert ((least <= low) & (low <= value) & (value <= high) & (high <= most)).all()
    assert np.isnan(found["se"][~known]).all()


@given(case=measured(least=2))
@SOME
def test_a_higher_level_has_the_wider_interval(case: Case) -> None:
    narrow, wide = (columns(of(case, level=level)) for level in (0.8, 0.99))
    known = ~np.isnan(narrow["value"])
    slack = 1e-9 * (1 + np.abs(narrow["value"][known]))
    assert (wide["low"][known] <= narrow["low"][known] + slack).all()
    assert (wide["high"][known] >= narrow["high"][known] - slack).all()


@given(case=measured())
@SOME
def test_what_is_undefined_says_why(case: Case) -> None:
    for row in of(case).table():
        if not math.isfinite(row["value"]):
            assert row["measure"] == "adjusted_rmse"
            assert row["note"] == "the squared error is negative, and so has no root"


# --- what is related to what ----------------------------------------------------------------------------------


@given(case=measured())
@SOME
def test_a_root_is_the_root_of_its_square(case: Case) -> None:
    found = of(case)
    for kind in ("apparent", "adjusted", "smoothed", "minimal", "label"):
        square, root = found[f"{kind}_sqerr"], found[f"{kind}_rmse"]
        if square.value < 0:
            assert math.isnan(root.value), kind
            continue
        assert root.value**2 == pytest.approx(square.value, rel=1e-12), kind
        assert root.high**2 == pytest.approx(square.high, rel=1e-6), kind
        assert root.low**2 == pytest.approx(max(square.low, 0.0), rel=1e-6, abs=1e-9 * square.high), kind


@given(case=measured())
@SOME
def test_no_class_is_better_than_the_best(case: Case) -> None:
    found = of(case)
    for of_rule, least in (("smoothed", "minimal"), ("model", "model_minimal")):
        assert found[f"{of_rule}_error"].value >= found[f"{least}_error"].value - 1e-15
        assert found[f"{of_rule}_sqerr"].value >= found[f"{least}_sqerr"].value * (1 - 1e-12)


@given(case=measured())
@SOME
def test_the_true_error_lies_between_its_bounds_whatever_the_true_classes_are(case: Case) -> None:
    """So do the apparent error itself and, where the labels are surely right, nothing else."""
    found = of(case, measures=None)
    low, high = (bound.value for bound in found.true_error_bounds)
    assert low <= high + 1e-15
    if found["label_error"].value == 0:
        assert low == pytest.approx(found["error"].value)
        assert high == pytest.approx(found["error"].value)


@given(case=measured())
@SOME
def test_without_measurement_error_labels_are_right(case: Case) -> None:
    exact = replace(case, sd=0.0)
    found = of(exact, measures=None)
    error, sqerr = found["error"].value, found["apparent_sqerr"].value
    for label in ("adjusted_error", "true_error_low", "true_error_high", "posterior_error", "difference_error"):
        assert found[label].value == pytest.approx(error, abs=1e-14), label
    for label in ("adjusted_sqerr", "posterior_sqerr", "difference_sqerr"):
        assert found[label].value == pytest.approx(sqerr, rel=1e-12, abs=1e-14), label
    for label in ("label_error", "label_sqerr", "label_rmse", "posterior_label_error", "posterior_label_sqerr"):
        assert found[label].value == 0, label


@given(case=measured())
@SOME
def test_without_spread_of_the_response_smoothing_changes_nothing(case: Case) -> None:
    found = of(replace(case, blur=0.0), measures=None)
    assert found["smoothed_error"].value == pytest.approx(found["error"].value, abs=1e-15)
    assert found["smoothed_sqerr"].value == pytest.approx(found["apparent_sqerr"].value, rel=1e-14)
    assert found["minimal_error"].value == found["minimal_sqerr"].value == 0


@given(case=measured())
@SOME
def test_a_model_that_knows_the_response_needs_no_measurement(case: Case) -> None:
    """Without spread around what is expected, the measured value says nothing more."""
    sure = replace(case, spread=np.zeros(len(case)), sd=1.0)
    found = of(sure)
    assert found["posterior_error"].value == found["model_error"].value
    assert found["posterior_sqerr"].value == pytest.approx(found["model_sqerr"].value, rel=1e-14)


@given(case=measured())
@SOME
def test_a_guarded_estimate_is_one_of_two(case: Case) -> None:
    found = of(case)
    for kind, columns_of in (("error", "doubt_wrong"), ("sqerr", "doubt_distance")):
        guarded, doubt = found[f"guarded_{kind}"], abs(found.continuum.doubt(columns_of))
        taken = "difference" if doubt > 1.5 else "posterior"
        assert guarded.value == found[f"{taken}_{kind}"].value
        assert guarded.note.startswith(f"{taken}: the model foresees ")
        assert found[f"guarded_{kind}(limit=1000000000.0)"].value == found[f"posterior_{kind}"].value
        if doubt:
            assert found[f"guarded_{kind}(limit=0.0)"].value == found[f"difference_{kind}"].value


@pytest.mark.parametrize("name", ["guarded_error", "guarded_sqerr"])
def test_every_parameter_changes_something(name: str) -> None:
    case = drawn(200, 4)
    believed, doubted = (find(name, limit=limit) for limit in (100.0, 0.0))
    found = of(case, measures=[believed, doubted])
    assert found[believed].value != pytest.approx(found[doubted].value, rel=1e-3)


def test_no_parameter_is_left_out_above() -> None:
    taken = {(entry.name, parameter) for entry in REGISTERED for parameter in entry.parameters}
    assert taken == {("guarded_error", "limit"), ("guarded_sqerr", "limit")}


# --- influences -----------------------------------------------------------------------------------------------


@given(case=measured(least=2))
@SOME
def test_influences_of_all_rows_sum_to_nothing(case: Case) -> None:
    weight = np.random.default_rng(1).uniform(0.5, 2, len(case))
    evaluation = evaluated(case, weight=weight)
    for slot in evaluation.slots:
        if math.isfinite(evaluation.result(slot).value[0]):
            influence = evaluation.influence(slot)
            assert influence @ weight == pytest.approx(0, abs=1e-9 * (1e-3 + np.abs(influence).max())), slot


@pytest.mark.study
@pytest.mark.parametrize(("weighted", "classes"), in_turn([False, True], [2, 3]))
def test_influences_are_what_the_weight_of_a_row_would_change(weighted: bool, classes: int) -> None:
    case, step = drawn(25, 7, classes), 1e-6
    weight = np.random.default_rng(7).uniform(0.5, 2, 25) if weighted else np.ones(25)
    base = evaluated(case, weight=weight)

    def values(weights: Any) -> Any:
        sums = np.stack([np.ones_like(weights), weights, weights**2], axis=1)
        return replace(base, rows=replace(base.rows, sums=sums), found={}, tails={}).values[0]

    changes = np.empty((len(base.slots), 25))
    for row in range(25):
        shift = step * (np.arange(25) == row)
        changes[:, row] = (values(weight + shift) - values(weight - shift)) / (2 * step)
    found = np.stack([base.influence(slot) for slot in base.slots])
    assert_allclose(found, changes, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_influences_reproduce_the_standard_error(weighted: bool) -> None:
    case = drawn(40, 6)
    weight = np.random.default_rng(6).uniform(0.5, 2, 40) if weighted else np.ones(40)
    found = of(case, weight=weight if weighted else None)
    for place, slot in enumerate(found.continuum.slots):
        expected = math.sqrt(np.square(weight * found.continuum.influence(slot)).sum() * 40 / 39)
        if slot.measure.wavering is not None:  # which of two estimates is taken is chance as well
            expected = math.hypot(expected, np.linalg.norm(found.continuum.wavering(slot)))
        assert columns(found)["se"][place] == pytest.approx(expected, rel=1e-9), slot


def test_the_standard_error_of_a_mean_is_that_of_a_mean() -> None:
    case = drawn(50, 8)
    found = of(case)
    for label, name in (
        ("apparent_sqerr", "distance"),
        ("smoothed_error", "smoothed_wrong"),
        ("label_error", "unsure"),
    ):
        rows = found.continuum.column(name)
        assert found[label].value == pytest.approx(rows.mean(), rel=1e-12)
        assert found[label].se == pytest.approx(rows.std(ddof=1) / math.sqrt(50), rel=1e-12)


@pytest.mark.study
def test_standard_errors_are_about_those_of_the_jackknife() -> None:
    size = repeats(60, 120)
    case, rows = drawn(size, 9), np.arange(size)
    without = np.array([evaluated(case.part(rows != row)).values[0] for row in rows])
    # Where leaving out one row turns the doubt round, the estimate jumps, which no derivative can tell.
    jackknife = np.sqrt((size - 1) / size * np.square(without - without.mean(axis=0)).sum(axis=0))
    rooted = np.array([label.endswith("_rmse") or label.startswith("true_sqerr") for label in LABELS])
    found = columns(of(case))["se"]
    assert_allclose(found[~rooted & STEADY], jackknife[~rooted & STEADY], rtol=0.01)
    assert_allclose(found[rooted], jackknife[rooted], rtol=0.2)


@given(case=measured(least=2))
@SOME
def test_clusters_of_one_row_are_independent_rows(case: Case) -> None:
    """Exactly: both divide by one less."""
    alone, grouped = of(case), of(case, group=np.arange(len(case)))
    assert_same(columns(alone), columns(grouped))


def test_rows_repeated_within_clusters_tell_nothing_new() -> None:
    case = drawn(60, 10)
    rows, times = np.arange(60), np.full(60, 3)
    for cluster in (rows, rows // 2):
        once = columns(of(case, group=cluster))
        thrice = columns(of(case.repeated(times), group=np.repeat(cluster, times)))
        for name in COLUMNS:
            assert_allclose(thrice[name], once[name], rtol=1e-9, err_msg=name)
    # As independent rows, they seem to tell more; also of a model, which is then doubted sooner.
    once, thrice = (columns(of(each))["se"][STEADY] for each in (case, case.repeated(times)))
    assert_allclose(thrice, once * math.sqrt(59 / 179), rtol=1e-9)


# --- bootstrap ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["bootstrap", "percentile"])
@pytest.mark.parametrize("kind", ["rows", "weights", "clusters"])
def test_bootstrap_intervals_are_near_those_of_the_delta_method(method: Method, kind: str) -> None:
    """But for guarded estimates, which jump from one estimate to another where the doubt does: no slope tells that."""
    case = drawn(1500, 11)
    options: dict[str, Any] = {}
    if kind == "weights":
        options["weight"] = np.random.default_rng(12).uniform(0.2, 3, 1500)
    elif kind == "clusters":
        options["group"] = np.arange(1500) // 2
    usual, found = columns(of(case, **options)), of(case, **options, method=method, replicates=800)
    again = columns(found)
    assert_allclose(again["value"], usual["value"], rtol=1e-12)
    assert ((again["low"] < again["value"]) & (again["value"] < again["high"])).all()
    for name in ("low", "high"):
        off = np.abs(again[name] - usual[name]) / (usual["high"] - usual["low"])
        assert not [pair for pair in zip(LABELS, off, STEADY, strict=True) if pair[1] > 0.2 and pair[2]]
    assert all(found[label].method.startswith("bootstrap") for label in LABELS)


def test_the_doubt_of_a_replicate_is_that_of_the_rows_drawn() -> None:
    """Of rows, of rows that weigh, and of whole clusters."""
    case, random = drawn(30, 13), np.random.default_rng(13)
    cluster, weight = np.arange(30) // 3, random.uniform(0.5, 2, 30)
    times = random.multinomial(10, np.full(10, 0.1))[cluster]
    chosen = np.repeat(np.arange(30), times)
    copies = np.concatenate([np.arange(count) for count in times])
    for options in ({}, {"weight": weight}, {"group": cluster}, {"group": cluster, "weight": weight}):
        base = evaluated(case, **options)
        drawn_mass: Any = times * base.weights.mass
        again = {name: column[chosen] for name, column in options.items()}
        if "group" in again:
            again["group"] = again["group"] * 100 + copies
        expected = evaluated(case.part(chosen), **again)
        for name in ("doubt_wrong", "doubt_distance"):
            assert base.doubts(name, drawn_mass[None])[0] == pytest.approx(expected.doubt(name), rel=1e-9), options


# --- differences ----------------------------------------------------------------------------------------------

COMPARED = [measure for measure in MEASURES if measure.better != "neither"]


@given(case=measured(least=2))
@SOME
def test_a_classifier_does_not_differ_from_itself(case: Case) -> None:
    for row in pair(case, case.assigned).differences():
        if not math.isnan(row["difference"]):
            assert row["difference"] == 0
            assert row["low"] <= 0 <= row["high"]
            assert row["p"] == 1


@given(case=measured(least=3))
@SOME
def test_differences_turn_around_with_the_pair(case: Case) -> None:
    other = other_rule(case)
    forth = pair(case, other).differences().columns
    back = pair(replace(case, assigned=other), case.assigned).differences().columns
    assert_allclose(forth["difference"], -np.array(back["difference"]), rtol=1e-12)
    assert_allclose(forth["low"], -np.array(back["high"]), rtol=1e-9)
    assert_allclose(forth["high"], -np.array(back["low"]), rtol=1e-9)
    assert_allclose(forth["p"], back["p"], rtol=1e-9)


@given(case=measured(least=2))
@SOME
def test_a_difference_is_that_of_the_values_and_lies_in_its_interval(case: Case) -> None:
    found = pair(case, other_rule(case))
    for row in found.differences():
        values = [found[name][row["measure"]].value for name in ("x", "y")]
        rounding = 1e-12 * max(map(abs, values)) if all(map(math.isfinite, values)) else 0.0
        assert row["difference"] == pytest.approx(values[0] - values[1], rel=1e-12, abs=rounding, nan_ok=True)
        if not math.isnan(row["difference"]):
            assert row["low"] <= row["difference"] <= row["high"]
            assert 0 <= row["p"] <= 1


def test_paired_differences_are_surer_than_independent_ones() -> None:
    case = drawn(300, 14)
    found = pair(case, other_rule(case, share=0.9))
    for row in found.differences():
        alone = math.hypot(*[found[name][row["measure"]].se for name in ("x", "y")])
        assert 0 < row["se"] < alone, row["measure"]


@given(case=measured(least=3))
@SOME
def test_skewness_shortens_no_interval_of_a_difference(case: Case) -> None:
    """Two classifiers differ in few rows, which cannot tell how skew their differences are; but whether they differ."""
    reach = stdtrit(len(case) - 1, 0.975)
    for row in pair(case, other_rule(case)).differences():
        low, high = find(row["measure"]).span
        difference, wide = row["difference"], reach * row["se"]
        if not math.isnan(difference):
            ends = [max(difference - wide, low - high), min(difference + wide, high - low)]
            if row["p"] < 0.05:  # the test speaks against 0, and the interval ends there at the furthest
                ends = [max(ends[0], 0.0), ends[1]] if difference > 0 else [ends[0], min(ends[1], 0.0)]
            assert row["low"] <= ends[0] + 1e-9
            assert row["high"] >= ends[1] - 1e-9


def test_the_test_and_the_interval_agree() -> None:
    """The p-value is 5 % where the interval ends at 0."""
    case = drawn(200, 15)
    for row in pair(case, other_rule(case, share=0.9)).differences():
        assert (row["p"] < 0.05) == (row["low"] > 0 or row["high"] < 0), row["measure"]


# --- deviations that are estimated ----------------------------------------------------------------------------


def of_sd(label: str) -> bool:
    """Whether a measure depends on the deviation of the measurement error."""
    return bool(set(find(label).arguments) - {"wrong", "distance", "classes", "smoothed_wrong", "smoothed_distance",
                "least_wrong", "least_distance", "model_wrong", "model_distance", "model_least_wrong",
                "model_least_distance"})  # fmt: skip


@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "clusters"])
def test_a_deviation_that_is_estimated_widens_intervals(grouped: bool) -> None:
    case, group = drawn(2000, 16), np.arange(2000) // 4 if grouped else None
    known, guessed = (columns(of(replace(case, sd=sd), group=group)) for sd in (0.4, Estimated(0.4, 0.08)))
    moved = np.array([of_sd(label) for label in LABELS])
    assert_allclose(known["value"], guessed["value"], rtol=1e-12)
    widths = [each["high"] - each["low"] for each in (known, guessed)]
    assert (guessed["se"][moved] > known["se"][moved]).all()
    assert (widths[1][moved] > widths[0][moved]).all()
    for name in COLUMNS:
        assert_allclose(guessed[name][~moved], known[name][~moved], rtol=1e-12)


@pytest.mark.parametrize("method", ["delta", "bootstrap", "percentile"])
def test_a_deviation_without_error_is_known(method: Method) -> None:
    case = drawn(60, 17)
    sure = replace(case, sd=Estimated(0.4, 0.0), blur=Estimated(0.3, 0.0))
    known, same = (columns(of(each, method=method, replicates=50)) for each in (case, sure))
    for name in COLUMNS:
        np.testing.assert_array_equal(known[name], same[name])


@pytest.mark.parametrize("name", ["sd", "blur"])
def test_the_error_of_a_deviation_moves_a_value_as_far_as_the_deviation_does(name: str) -> None:
    """The added variance is the square of what one standard error of the squared deviation does to the value."""
    case, error = drawn(150, 18), 0.002
    known = columns(of(case))
    options, deviation = {"sd": "sd", "blur": "sd_response"}, getattr(case, name)
    guessed = columns(of(case, **{options[name]: Estimated(deviation, error)}))
    up, down = (
        columns(of(case, **{options[name]: math.sqrt(deviation**2 + sign * error)}))["value"] for sign in (1, -1)
    )
    added = np.square(guessed["se"]) - np.square(known["se"])
    assert_allclose(added, np.square((up - down) / 2), rtol=1e-3, atol=1e-12)


@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "clusters"])
def test_the_error_of_a_deviation_is_normal_and_takes_from_the_skewness(grouped: bool) -> None:
    """It adds to the variance, and nothing to the third moment."""
    case, options = drawn(150, 18), {"group": np.arange(150) // 3} if grouped else {}
    known, guessed = (evaluated(replace(case, sd=sd), **options) for sd in (0.4, Estimated(0.4, 0.1)))
    for slot in known.slots:
        variances = [each.result(slot).variance[0] for each in (known, guessed)]
        skews = [float(each.tails[key_of(slot)].skew[0]) for each in (known, guessed)]
        assert skews[1] == pytest.approx(skews[0] * (variances[0] / variances[1]) ** 1.5, rel=0.04, abs=1e-4), slot


def test_bootstrap_intervals_know_of_estimated_deviations_too() -> None:
    case = drawn(1500, 19)
    guessed = replace(case, sd=Estimated(0.4, 0.1))
    for label in ("adjusted_error", "label_error", "adjusted_sqerr"):
        widths: dict[str, list[float]] = {}
        for method in ("delta", "percentile", "bca"):
            options: dict[str, Any] = {"method": method, "replicates": 1000, "measures": [label]}
            pairs = [of(each, **options)[label] for each in (case, guessed)]
            widths[method] = [found.high - found.low for found in pairs]
            assert widths[method][1] > 1.05 * widths[method][0], (label, method)
        assert widths["percentile"][1] == pytest.approx(widths["delta"][1], rel=0.2), label
        assert widths["bca"][1] == pytest.approx(widths["delta"][1], rel=0.2), label


def test_the_shared_error_of_a_deviation_cancels_where_classifiers_agree() -> None:
    """Of two classifiers that differ in nothing that the deviation has to do with, the difference is as sure."""
    case = drawn(200, 20)
    guessed = replace(case, sd=Estimated(0.4, 0.1))
    for found in (pair(guessed, case.assigned), pair(guessed, case.assigned, method="percentile", replicates=50)):
        for row in found.differences():
            assert row["difference"] == row["se"] == row["low"] + row["high"] == 0, row["measure"]
            assert row["high"] < 0.02 or row["measure"].endswith(("sqerr", "rmse")), row["measure"]
    other = other_rule(case, share=0.9)
    known, unsure = (pair(each, other).differences() for each in (case, guessed))
    for ours, theirs, measure in zip(known, unsure, COMPARED, strict=True):
        alone = [of(each)[measure].se for each in (case, guessed)]
        added = [theirs["se"] ** 2 - ours["se"] ** 2, alone[1] ** 2 - alone[0] ** 2]
        if measure.name in ("adjusted_sqerr", "adjusted_rmse", "true_sqerr_low", "true_sqerr_high"):
            continue  # what is taken off or added grows with the errors of each classifier
        assert added[0] <= 0.5 * added[1] + 1e-15, measure.label
