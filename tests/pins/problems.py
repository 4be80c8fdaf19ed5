"""The data sets: made in code from seeds, small, and each with one thing that is special about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

import steelyard as sy

COUNTS = (
    *("error", "accuracy", "kappa", "weighted_kappa", "weighted_kappa(weights='quadratic')", "mcc"),
    *("balanced_accuracy", "g_mean", "sensitivity", "specificity", "precision", "npv", "fpr", "fnr", "f1"),
    *("precision_at(prevalence=0.1)", "precision_at(prevalence=0.4)", "npv_at(prevalence=0.1)"),
    *("npv_at(prevalence=0.4)", "fbeta", "fbeta(beta=0.5)", "jaccard", "informedness", "lr_positive", "lr_negative"),
    *("diagnostic_odds_ratio", "prevalence", "detection_rate", "detection_prevalence"),
)
SOME_COUNTS = ("error", "kappa", "sensitivity", "precision", "f1")
RANKINGS = (
    *("auc", "hand_till_auc", "average_precision", "h_measure", "partial_auc"),
    "partial_auc(specificity=(0.5, 0.9), corrected=False)",
)
FORECASTS = (
    *("log_score", "log_score(clip=0.01)", "brier", "brier_multiclass", "spherical_score", "zero_one_score"),
    *("ranked_probability_score", "top_k_accuracy", "top_k_accuracy(k=1)", "net_benefit", "net_benefit(at=0.2)"),
    *("skill", "skill(score='log_score')", "skill(against='b')"),
    *("calibration_error", "calibration_error(bins=4)", "top_calibration_error", "top_calibration_error(bins=4)"),
)
MEASURED = (
    *("error", "adjusted_error", "label_error", "apparent_sqerr", "adjusted_sqerr", "label_sqerr"),
    *("true_error_low", "true_error_high", "true_sqerr_low", "true_sqerr_high"),
    *("apparent_rmse", "adjusted_rmse", "label_rmse"),
)
RESPONDED = (*("smoothed_error", "minimal_error", "smoothed_sqerr", "minimal_sqerr", "smoothed_rmse", "minimal_rmse"),)
MODELLED = (
    *("posterior_error", "model_error", "difference_error", "guarded_error", "guarded_error(limit=3.0)"),
    *("posterior_sqerr", "model_sqerr", "difference_sqerr", "guarded_sqerr", "guarded_sqerr(limit=3.0)"),
    *("posterior_label_error", "posterior_label_sqerr", "model_minimal_error", "model_minimal_sqerr"),
)
PARTITIONS = ("partition_accuracy", "separation", "confidence")
YES = ("no", "yes")
XYZ = ("x", "y", "z")


def scaled(*ways: str) -> tuple[str, ...]:
    """The measures of partition spaces, scaled in some ways."""
    return tuple(f"{name}({way})" if way else name for way in ways for name in PARTITIONS)


@dataclass(frozen=True)
class Problem:
    """One data set, and what is asked of it.

    Attributes:
        name: What the pins call it.
        kind: The file of pins that it stands in.
        columns: The data.
        models: The columns of each classifier.
        measures: What is asked for.
        given: How the columns are read, as ``compare`` takes it.
        options: How results are computed, as ``compare`` and ``compare_tally`` take it.
        training: The columns of training data, where there are some.
        only_memory: Whether it is assessed in memory alone.
    """

    name: str
    kind: str
    columns: Mapping[str, Any]
    models: Mapping[str, Any]
    measures: Sequence[str]
    given: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] | None = None
    only_memory: bool = False

    @property
    def table(self) -> pa.Table:
        """The data as a table."""
        return pa.table(dict(self.columns))

    @property
    def fingerprint(self) -> str:
        """A digest of the data: where it differs, the generator has changed and not the library."""
        found = sha256()
        for part in (self.columns, self.training or {}):
            for name, column in part.items():
                found.update(repr((name, np.asarray(column).tolist())).encode())
        return found.hexdigest()[:16]


class Maker:
    """Columns of one data set, drawn from a seed. All are rounded, so that every machine draws the same."""

    def __init__(self, seed: int, rows: int, classes: Sequence[str] = YES) -> None:
        self.rng, self.rows, self.classes = np.random.default_rng(seed), rows, np.array(classes)
        self.codes = self.rng.integers(0, len(classes), rows)
        self.columns: dict[str, Any] = {"truth": self.classes[self.codes]}

    @property
    def truth(self) -> Any:
        """The true labels."""
        return self.columns["truth"]

    def take(self, truth: Sequence[str]) -> Maker:
        """Take true labels that are given."""
        self.columns["truth"] = np.array(truth)
        self.codes = np.array([self.classes.tolist().index(label) for label in truth])
        return self

    def add(self, **columns: Any) -> Maker:
        """Add columns that are given."""
        self.columns.update({name: np.asarray(column) for name, column in columns.items()})
        return self

    def labels(self, **right: float) -> Maker:
        """Add classifiers that know the class in a share of the rows, and guess it in the others."""
        for name, share in right.items():
            guess = self.classes[self.rng.integers(0, len(self.classes), self.rows)]
            self.columns[name] = np.where(self.rng.random(self.rows) < share, self.truth, guess)
        return self

    def scores(self, digits: int = 3, **apart: float) -> Maker:
        """Add scores of the last class, whose mean lies so far above that of the others."""
        event = self.codes == len(self.classes) - 1
        for name, distance in apart.items():
            self.columns[name] = np.round(distance * event + self.rng.normal(size=self.rows), digits)
        return self

    def chances(self, digits: int = 3, **apart: float) -> Maker:
        """Add probabilities of the last class."""
        event = self.codes == len(self.classes) - 1
        for name, distance in apart.items():
            odds = distance * (event - 0.5) + self.rng.normal(size=self.rows)
            self.columns[name] = np.round(0.01 + 0.98 / (1 + np.exp(-odds)), digits)
        return self

    def memberships(self, most: int = 1000, **extra: float) -> Maker:
        """Add a probability for each class: shares of whole numbers, of which the true class has more."""
        for name, more in extra.items():
            here = self.codes[:, None] == np.arange(len(self.classes))
            draws = self.rng.integers(1, most, (self.rows, len(self.classes)))
            parts = draws + np.round(more * most * self.rng.random((self.rows, 1))).astype(int) * here
            self.shares(name, parts)
        return self

    def shares(self, name: str, parts: Any) -> Maker:
        """Add a probability for each class from whole numbers."""
        for place, label in enumerate(self.classes):
            self.columns[f"{name}_{label}"] = parts[:, place] / parts.sum(axis=1)
        return self

    def beside(self, *names: str) -> Maker:
        """Add columns that stand beside others: weights, clusters, parts."""
        ways: dict[str, Callable[[], Any]] = {
            "weight": lambda: np.round(0.2 + 2 * self.rng.random(self.rows), 3),
            "times": lambda: self.rng.integers(1, 5, self.rows),
            "batch": lambda: self.rng.integers(0, max(2, self.rows // 8), self.rows),
            "site": lambda: np.array(["north", "south", "west"])[self.rng.integers(0, 3, self.rows)],
        }
        for name in names:
            self.columns[name] = ways[name]()
        return self

    def alone_in(self, label: str) -> Maker:
        """Put all rows of a class into one cluster."""
        return self.add(batch=np.where(self.truth == label, 999, self.columns["batch"]))

    def with_one(self, label: str, other: str) -> Maker:
        """Leave one row of a class."""
        here = np.flatnonzero(self.truth == label)[1:]
        truth = self.truth.copy()
        truth[here] = other
        return self.take(truth.tolist())

    def lacking(self, *names: str, every: int = 9) -> Maker:
        """Let values be missing."""
        for place, name in enumerate(names):
            gone = np.arange(self.rows) % every == place
            self.columns[name] = pa.array(self.columns[name], mask=gone)
        return self


WEIGHTS: dict[str, Any] = {"weight": "weight"}
TIMES: dict[str, Any] = {"weight": "times", "weight_kind": "frequency"}
BATCH: dict[str, Any] = {"group": "batch"}
SITE: dict[str, Any] = {"by": "site"}
DROP: dict[str, Any] = {"missing": "drop"}
PLAIN: dict[str, Any] = {"method": "plain", "level": 0.8}
PRICES = {"no": {"yes": 1.0}, "yes": {"no": 5.0}}
PRICES3 = {"x": {"y": 1.0, "z": 2.0}, "y": {"x": 1.5, "z": 0.5}, "z": {"x": 4.0, "y": 3.0}}
AB = {"a": "a", "b": "b"}


def _counts() -> list[Problem]:
    def yes(name: str, made: Maker, given: Any = None, event: str | None = "yes", **more: Any) -> Problem:
        more = {"measures": COUNTS, **more}
        return Problem(name, "counts", made.columns, AB, given={"scale": sy.Scale(YES, event), **(given or {})}, **more)

    def any_of(name: str, made: Maker, given: Any = None, **more: Any) -> Problem:
        scale = sy.Scale(made.classes.tolist())
        more = {"measures": COUNTS, **more}
        return Problem(name, "counts", made.columns, AB, given={"scale": scale, **(given or {})}, **more)

    def two(seed: int, rows: int = 90) -> Maker:
        return Maker(seed, rows).labels(a=0.7, b=0.5)

    def three(seed: int, rows: int = 120) -> Maker:
        return Maker(seed, rows, XYZ).labels(a=0.7, b=0.5)

    twins = two(13, 120)
    almost = twins.columns["a"].copy()
    almost[[3, 50]] = np.where(almost[[3, 50]] == "yes", "no", "yes")
    training = two(19, 60).columns
    absent = two(12).beside("site")
    absent.take(np.where(absent.columns["site"] == "west", "no", absent.truth).tolist())
    more_models = three(6)
    more_models.labels(c=0.9)
    unseen = Maker(5, 80, tuple("uvwxyz")).labels(a=0.6, b=0.4)
    unseen.take(np.where(np.isin(unseen.truth, ["u", "w"]), "v", unseen.truth).tolist())
    unseen.add(a=np.where(unseen.columns["a"] == "u", "x", unseen.columns["a"]))
    wide = Maker(4, 120, ("low", "mid", "high", "top")).labels(a=0.7, b=0.5)
    return [
        yes("labels", two(1)),
        yes("labels, no event", two(2), event=None),
        any_of("labels of three classes", three(3)),
        any_of("labels of ordered classes", wide, measures=("error", *COUNTS[3:9])),
        any_of("labels, classes never true or never assigned", unseen, measures=COUNTS[:19]),
        Problem("three classifiers", "counts", more_models.columns, {**AB, "c": "c"}, SOME_COUNTS),
        yes("labels, weights", two(7).beside("weight"), WEIGHTS),
        any_of("labels of three classes, weights", three(8).beside("weight"), WEIGHTS),
        yes("labels, frequencies", two(9).beside("times"), TIMES),
        any_of("labels of three classes, frequencies", three(10).beside("times"), TIMES),
        yes("labels, clusters", two(11, 160).beside("batch"), BATCH),
        any_of("labels of three classes, clusters and weights", three(14).beside("batch", "weight"), WEIGHTS | BATCH),
        any_of("labels, a class in one cluster", three(15).beside("batch").alone_in("z"), BATCH),
        any_of("labels, a class of one row", three(16).with_one("z", "x")),
        yes("labels, one cluster", two(17, 40).add(batch=np.zeros(40, int)), BATCH, measures=SOME_COUNTS),
        yes("labels, missing values", two(18).lacking("a", "b"), DROP, measures=SOME_COUNTS),
        yes("labels by sites, no event in one", absent, SITE, measures=COUNTS[:18]),
        any_of("labels by sites, few not shown", three(20).beside("site"), SITE, options={"least": 40}),
        yes("labels, near twins", twins.add(b=almost)),
        yes("labels, near twins in clusters", two(21).beside("batch").add(b=two(21).columns["a"]), BATCH),
        yes("labels, always one class", two(22).add(a=["no"] * 90)),
        yes("labels, perfect", (made := two(23)).add(a=made.truth)),
        yes("labels, always wrong", (made := two(24)).add(a=np.where(made.truth == "yes", "no", "yes"))),
        yes("labels, 2 rows", Maker(25, 2).take(["no", "yes"]).add(a=["no", "no"], b=["no", "yes"])),
        yes("labels, 4 rows", Maker(26, 4).take(["no", "yes", "no", "yes"]).labels(a=0.5, b=0.2)),
        any_of("labels, 10 rows", Maker(27, 10, XYZ).labels(a=0.7, b=0.4)),
        yes("labels, costs", two(28), measures=("error", "cost"), options={"cost": PRICES}),
        any_of("labels of three classes, costs", three(29), measures=("error", "cost"), options={"cost": PRICES3}),
        yes("labels, plain", two(30), options=PLAIN),
        yes("labels, undefined is 0", two(31, 12).add(a=["no"] * 12), options={"undefined": 0.0}),
        yes("labels, training", two(32), training=training, measures=SOME_COUNTS),
        any_of("labels as forecasts", three(33, 60), measures=("error", *FORECASTS[:6], *FORECASTS[14:])),
        *[
            yes(f"labels, {method}", two(34, 30), measures=("error", "kappa", "f1"), only_memory=True, options=options)
            for method, options in {
                "BCa": {"method": "bootstrap", "replicates": 200, "seed": 3},
                "percentiles": {"method": "percentile", "replicates": 200, "seed": 4},
            }.items()
        ],
    ]


def _scores() -> list[Problem]:
    def yes(name: str, made: Maker, given: Any = None, **more: Any) -> Problem:
        models, read = {"score": AB}, {"scale": sy.Scale(YES, "yes"), **(given or {})}
        return Problem(name, "rankings", made.columns, models, **{"measures": RANKINGS, "given": read, **more})

    def two(seed: int, rows: int = 90) -> Maker:
        return Maker(seed, rows).scores(a=1.2, b=0.7)

    three = Maker(54, 120, XYZ).memberships(a=1.0, b=0.5)
    spread = {name: np.round(20 * column, 2) for name, column in three.columns.items() if name != "truth"}
    twins, absent = two(46), two(49, 120).beside("site")
    absent.take(np.where(absent.columns["site"] == "west", "no", absent.truth).tolist())
    few = Maker(55, 60).with_one("yes", "no").scores(a=1.2, b=0.7)
    vast = {"a": twins.columns["a"].copy()}
    vast["a"][::7], vast["a"][3::11] = np.inf, -np.inf
    several = {"score": {name: [f"{name}_{label}" for label in XYZ] for name in AB}}
    return [
        yes("scores", two(40)),
        yes("scores, threshold", two(41), {"threshold": 0.5}, measures=(*RANKINGS, *SOME_COUNTS)),
        yes("scores, ties", Maker(42, 120).scores(digits=0, a=1.2, b=0.7)),
        yes("scores, constant", two(43, 40).add(a=np.ones(40))),
        yes("scores, perfect", (made := two(44, 60)).add(a=10 * made.codes + np.round(made.rng.random(60), 3))),
        yes("scores, always wrong", (made := two(45, 60)).add(a=-10 * made.codes + np.round(made.rng.random(60), 3))),
        yes("scores, near twins", Maker(46, 90).add(**twins.columns).add(b=np.r_[2.5, twins.columns["a"][1:]])),
        yes("scores, infinite", Maker(46, 90).add(**twins.columns).add(**vast)),
        yes("scores, weights", two(47).beside("weight"), WEIGHTS),
        yes("scores, frequencies", two(48).beside("times"), TIMES),
        yes("scores by sites, no event in one", absent, SITE, measures=("auc", "hand_till_auc", "h_measure")),
        yes("scores, clusters", two(50, 160).beside("batch"), BATCH),
        yes("scores, clusters and weights", two(51, 160).beside("batch", "weight"), BATCH | WEIGHTS),
        yes("scores, a class in one cluster", two(52, 120).beside("batch").alone_in("yes"), BATCH),
        yes("scores, a class of one row", few),
        yes("scores, 4 rows", Maker(53, 4).take(["no", "yes", "no", "yes"]).scores(a=1.0, b=0.5)),
        yes("scores, plain", two(56), options=PLAIN),
        yes("scores, missing values", two(57).lacking("a", "b"), DROP, measures=("auc", "average_precision")),
        yes("scores, larger", two(58, 1500), measures=("auc", "average_precision", "partial_auc")),
        Problem("scores of three classes", "rankings", {"truth": three.truth, **spread}, several, RANKINGS),
        yes(
            "scores, BCa",
            two(59, 30),
            measures=("auc", "h_measure"),
            options={"method": "bca", "replicates": 100, "seed": 5},
            only_memory=True,
        ),
    ]


def _forecasts() -> list[Problem]:
    def yes(name: str, made: Maker, given: Any = None, **more: Any) -> Problem:
        more = {"measures": ("error", "sensitivity", "auc", *FORECASTS), **more}
        read = {"scale": sy.Scale(YES, "yes"), **(given or {})}
        return Problem(name, "forecasts", made.columns, AB, given=read, **more)

    def any_of(name: str, made: Maker, given: Any = None, **more: Any) -> Problem:
        models, read = {name: f"{name}_*" for name in AB}, {"scale": sy.Scale(XYZ), **(given or {})}
        more = {"measures": ("error", "auc", "hand_till_auc", *FORECASTS), **more}
        return Problem(name, "forecasts", made.columns, models, given=read, **more)

    def two(seed: int, rows: int = 90) -> Maker:
        return Maker(seed, rows).chances(a=2.5, b=1.2)

    def three(seed: int, rows: int = 120) -> Maker:
        return Maker(seed, rows, XYZ).memberships(a=1.0, b=0.5)

    sure, hard, twins = two(70), two(71, 60), two(72)
    certain = np.where(np.arange(90) % 5 == 0, 1.0 * (sure.truth == "yes"), sure.columns["a"])
    certain[[4, 6]] = 1.0 * (sure.truth[[4, 6]] != "yes")
    impossible = Maker(73, 80, XYZ)
    parts = impossible.rng.integers(0, 3, (80, 3)) + np.array([1, 0, 0])
    impossible.shares("a", parts).memberships(b=0.5)
    absent = two(74, 120).beside("site")
    absent.take(np.where(absent.columns["site"] == "west", "no", absent.truth).tolist())
    rare = Maker(75, 90, XYZ).with_one("z", "x").memberships(a=1.0, b=0.5)
    return [
        yes("forecasts", two(60)),
        yes("forecasts, ties", Maker(62, 120).chances(digits=1, a=2.5, b=1.2)),
        yes("forecasts, weights", two(63).beside("weight"), WEIGHTS),
        yes("forecasts, frequencies", two(64).beside("times"), TIMES),
        yes("forecasts, clusters", two(65, 160).beside("batch"), BATCH),
        yes("forecasts, a class in one cluster", two(66, 100).beside("batch").alone_in("yes"), BATCH),
        yes("forecasts, 5 rows", Maker(67, 5).take(["no", "yes", "no", "yes", "no"]).chances(a=2.0, b=1.0)),
        yes("forecasts, 2 rows", Maker(68, 2).take(["no", "yes"]).chances(a=2.0, b=1.0)),
        yes("forecasts, constant", two(69).add(a=np.full(90, 0.3))),
        yes("forecasts, infinite log score", sure.add(a=certain)),
        yes("forecasts, perfect", hard.add(a=1.0 * hard.codes)),
        yes("forecasts, near twins", twins.add(b=np.r_[0.4, twins.columns["a"][1:]])),
        yes("forecasts by sites, no event in one", absent, SITE, measures=("auc", *FORECASTS[::3])),
        yes("forecasts, missing values", two(76).lacking("a", "b"), DROP),
        yes("forecasts, training", two(77), training=two(78, 60).columns, measures=("error", "auc", "brier")),
        yes("forecasts, costs", two(79), measures=("cost", "decision_cost", "brier"), options={"cost": PRICES}),
        yes("forecasts, plain", two(80), options=PLAIN),
        any_of("forecasts of three classes", three(81)),
        any_of("forecasts of three classes, weights", three(82).beside("weight"), WEIGHTS),
        any_of("forecasts of three classes, clusters", three(83).beside("batch"), BATCH),
        any_of("forecasts of three classes, infinite log score", impossible),
        any_of("forecasts of three classes, one row of one", rare),
        any_of(
            "forecasts of three classes, costs",
            three(84),
            measures=("cost", "decision_cost", "log_score"),
            options={"cost": PRICES3},
        ),
    ]


def _continuum() -> list[Problem]:
    def made(seed: int, rows: int = 90, cuts: Sequence[float] = (0.4,)) -> Maker:
        found = Maker(seed, rows, ("low", "high") if len(cuts) == 1 else ("low", "mid", "high"))
        response = found.rng.normal(size=rows)
        found.columns = {"truth": np.round(response + 0.2 * found.rng.normal(size=rows), 3)}
        for name, noise in (("a", 0.3), ("b", 0.6)):
            seen = np.round(response + noise * found.rng.normal(size=rows), 3)
            found.columns[name] = found.classes[np.digitize(seen, cuts)]
        found.columns["mean"] = np.round(response + 0.1 * found.rng.normal(size=rows), 3)
        found.columns["spread"] = np.full(rows, 0.3)
        found.columns["error"] = np.array([0.1, 0.2, 0.3])[found.rng.integers(0, 3, rows)]
        return found

    def cut(name: str, found: Maker, given: Any = None, cuts: Sequence[float] = (0.4,), **more: Any) -> Problem:
        scale = sy.Continuum(list(cuts), found.classes.tolist())
        more = {"measures": MEASURED, **more}
        return Problem(name, "continuum", found.columns, AB, given={"scale": scale, "sd": 0.2, **(given or {})}, **more)

    estimated, all_of = sy.Deviation(0.2, 12.0), (*MEASURED, *RESPONDED)
    respond: dict[str, Any] = {"sd_response": 0.3}
    model: dict[str, Any] = {"response": ["mean", "spread"]}
    twins = made(96)
    almost = twins.columns["a"].copy()
    almost[5] = "low" if almost[5] == "high" else "high"
    right = made(97)
    return [
        cut("continuum", made(90)),
        cut("continuum, sd by row", made(91), {"sd": "error"}),
        cut("continuum, estimated sd", made(92), {"sd": estimated} | respond, measures=all_of),
        cut("continuum, estimated sd in clusters", made(93, 160).beside("batch"), {"sd": estimated} | BATCH),
        cut("continuum, sd of the response", made(94), respond, measures=all_of),
        cut(
            "continuum, estimated sd of the response",
            made(95),
            {"sd": estimated, "sd_response": sy.Deviation(0.3, 20.0)},
            measures=all_of,
        ),
        cut("continuum, near twins", twins.add(b=almost), respond, measures=all_of),
        cut("continuum, always right", right.add(a=right.classes[np.digitize(right.columns["truth"], [0.4])])),
        cut("continuum, no error of measurement", made(98), {"sd": 0.0}),
        cut("continuum, response model", made(99), model | respond, measures=(*all_of, *MODELLED)),
        cut("continuum, response model, weights", made(100).beside("weight"), model | WEIGHTS, measures=MODELLED),
        cut("continuum, weights", made(101).beside("weight"), WEIGHTS | respond, measures=all_of),
        cut("continuum, clusters", made(102, 160).beside("batch"), BATCH | respond, measures=all_of),
        cut("continuum, frequencies", made(103).beside("times"), TIMES),
        cut("continuum, three classes", made(104, 120, (-0.4, 0.6)), respond, (-0.4, 0.6), measures=all_of),
        cut("continuum, 3 rows", made(105, 3), respond, measures=all_of),
        cut("continuum by sites", made(106, 120).beside("site"), SITE),
        cut("continuum, plain", made(107), respond, measures=all_of, options=PLAIN),
    ]


def _partition() -> list[Problem]:
    def space(name: str, made: Maker, ways: Sequence[str], given: Any = None, **more: Any) -> Problem:
        models, scale = {name: f"{name}_*" for name in AB}, sy.Scale(made.classes.tolist())
        read = {"scale": scale, **(given or {})}
        return Problem(name, "partition", made.columns, models, scaled(*ways), given=read, **more)

    def three(seed: int, rows: int = 60, most: int = 1000) -> Maker:
        return Maker(seed, rows, XYZ).memberships(most, a=1.0, b=0.5)

    plain = ("", "scaling='raw'")
    deep = ("depth=2", "depth=2, floor=20", "depth=2, ties='joined'")
    kinds = (*plain, "scaling='klar'", "scaling='literal'")
    two = Maker(115, 90).memberships(a=1.0, b=0.5)
    four = Maker(116, 60, tuple("wxyz")).memberships(a=1.0, b=0.5)
    sure = Maker(118, 40, XYZ)
    sure.shares("a", 1 * (sure.codes[:, None] == np.arange(3))).memberships(b=0.5)
    return [
        space("partition", three(110), (*kinds, *deep)),
        space("partition, ties", three(111, most=4), (*kinds, *deep, "ties='joined'")),
        space("partition, ties parted at random", three(121, most=4), ("ties='random'", "ties='random', seed=2")),
        space("partition, weights", three(112, 60).beside("weight"), (*plain, "depth=2"), WEIGHTS),
        space("partition, frequencies", three(113).beside("times"), plain, TIMES),
        space("partition, clusters", three(114).beside("batch"), (*plain, "depth=2"), BATCH),
        space("partition of two classes", two, kinds),
        space("partition of four classes", four, ("depth=3",)),
        space("partition, 6 rows", Maker(117, 6, XYZ).memberships(a=1.0, b=0.5), kinds),
        space("partition, always sure", sure, kinds),
        space("partition by sites", three(119).beside("site"), plain, SITE),
        space("partition, plain", three(120), plain, options=PLAIN),
    ]


def problems() -> list[Problem]:
    """All data sets, in their order."""
    return [*_counts(), *_scores(), *_forecasts(), *_continuum(), *_partition()]
