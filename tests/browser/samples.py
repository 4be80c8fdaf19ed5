"""Results whose pages are looked at: small, and of every kind that a page tells apart."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

import steelyard as sy
from steelyard.results.assessment import Assessment
from steelyard.results.comparison import Comparison

HOSTILE = (
    "</script><script>document.title='taken'</script>",
    "\"'><img src=x onerror=\"document.title='taken'\">",
    "\u202egnihton\u2066 \u2028",
    "{{ 7 * 7 }}" + "x" * 400,
)
COST = {"ill": {"ill": 0, "well": 5}, "well": {"ill": 1, "well": 0}}


@cache
def binary() -> tuple[list[str], dict[str, list[float]]]:
    """Patients, and the scores that two classifiers gave them; some are tied."""
    random = np.random.default_rng(3)
    ill = random.random(80) < 0.4
    scores = {}
    for name, gap in (("near", 1.6), ("far", 0.8)):
        odds = gap * ill + random.normal(size=len(ill)) - 0.7
        scores[name] = np.round(1 / (1 + np.exp(-odds)), 2).tolist()
    return np.where(ill, "ill", "well").tolist(), scores


def two() -> Comparison:
    truth, scores = binary()
    part = ["north" if row % 3 else "south" for row in range(len(truth))]
    return sy.compare(truth, scores, event="ill", cost=COST, by=part)


def one() -> Assessment:
    truth, scores = binary()
    return sy.assess(truth, scores["near"], event="ill")


def three() -> Comparison:
    with resources.as_file(resources.files("steelyard") / "data" / "examples" / "iris.csv") as file:
        return sy.compare(Path(file), {"lda": "lda_*", "knn": "knn_*"}, truth="species")


def four() -> Assessment:
    random = np.random.default_rng(4)
    said = random.dirichlet([0.7] * 4, 120)
    truth = (random.random(120)[:, None] > said.cumsum(axis=1)).sum(axis=1).clip(0, 3)
    names = ["autumn", "spring", "summer", "winter"]
    return sy.assess(np.array(names)[truth], said, scale=sy.Scale(names))


def continuum() -> Comparison:
    water = sy.Continuum([65], classes=["dry", "wet"], sd=0.22, closed="right")
    with resources.as_file(resources.files("steelyard") / "data" / "examples" / "meat.csv") as file:
        return sy.compare(Path(file), {"lda": "lda", "nn3": "nn3"}, truth="water", scale=water)


def folds() -> Comparison:
    random = np.random.default_rng(5)
    truth = random.integers(0, 2, 90)
    covariates = random.normal(size=(90, 2)) + truth[:, None]
    return sy.cross_assess(["lda", "knn:3"], covariates, truth, event=1, cv=5, seed=1)


def many() -> Comparison:
    """Twenty classes and ten classifiers."""
    random = np.random.default_rng(6)
    names = np.array([f"a species with the number {code}" for code in range(20)])
    truth, said = random.integers(0, 20, 200), {}
    for model in range(10):
        right = random.random(200) < 0.9 - 0.05 * model
        said[f"classifier {model}"] = names[np.where(right, truth, random.integers(0, 20, 200))].tolist()
    return sy.compare(names[truth].tolist(), said, measures=["error", "sensitivity"])


def labels() -> Assessment:
    return sy.assess(["a", "b", "c", "a"] * 10, ["a", "b", "b", "a"] * 10)


def hostile() -> Comparison:
    random = np.random.default_rng(7)
    truth = [HOSTILE[code] for code in random.integers(0, 4, 60)]
    other = [HOSTILE[code] for code in random.integers(0, 4, 60)]
    part = [HOSTILE[code] for code in random.integers(0, 4, 60)]
    return sy.compare(truth, {HOSTILE[0]: other, "__proto__": truth, HOSTILE[2]: other[::-1]}, by=part)


def countless() -> Assessment:
    """Ten thousand classes that are called what nobody should be called."""
    random = np.random.default_rng(8)
    names = np.array([f"{HOSTILE[code % 4]} {code}" for code in range(10_000)], dtype=object)
    truth = np.concatenate([np.arange(10_000), random.integers(0, 10_000, 5_000)])
    said = np.where(random.random(len(truth)) < 0.7, truth, random.integers(0, 10_000, len(truth)))
    return sy.assess(names[truth].tolist(), names[said].tolist(), measures=["error", "sensitivity"])


SAMPLES = {each.__name__: each for each in (two, one, three, four, continuum, folds, many, labels, hostile, countless)}


# --- pages that go wrong where others do not, each opened by its own test -----------------------------------------


def one_sided() -> Assessment:
    """No row is ill."""
    return sy.assess(["well"] * 20, np.linspace(0.1, 0.9, 20), event="ill", scale=sy.Scale(["ill", "well"]))


def faultless() -> Comparison:
    """No fold has an error, and nobody looks at the rows that were fitted to."""
    random = np.random.default_rng(5)
    truth = np.repeat([0, 1], 30)
    covariates = random.normal(size=(60, 2)) + 20 * truth[:, None]
    return sy.cross_assess(["lda", "knn:1"], covariates, truth, event=1, cv=5, measures=["error"], training=False)


def certain() -> Comparison:
    """One classifier knows everything, the other says the same of all rows."""
    truth, _ = binary()
    known = [float(label == "ill") for label in truth]
    return sy.compare(truth, {"perfect": known, "constant": [0.3] * len(truth)}, event="ill")


def far_off() -> Assessment:
    """Scores that differ by little and are large, and costs that are tiny."""
    truth, scores = binary()
    costs = {true: {assigned: cost * 1e-12 for assigned, cost in row.items()} for true, row in COST.items()}
    high = 1e12 + np.where(np.array(scores["near"]) > 0.5, 1.3e-4, 0.0)
    return sy.assess(truth, high, event="ill", threshold=1e12, cost=costs)


def wordy() -> Assessment:
    """Classes of a continuum whose names are long."""
    names = ["at most five in a hundred", "more than five in a hundred"]
    values = np.linspace(-2, 2, 40)
    return sy.assess(values, np.where(values > 0.1, *names[::-1]), scale=sy.Continuum([0.0], names, sd=0.2))


def uncounted() -> Comparison:
    """One classifier gave scores, the other labels, and no measure is made of counts."""
    truth, scores = binary()
    return sy.compare(truth, {"scores": scores["near"], "labels": truth}, event="ill", measures=["auc"])


def half_scored() -> Comparison:
    """One classifier gave scores, the other labels, and the event is the last class."""
    truth, scores = binary()
    labels = np.where(np.array(scores["far"]) >= 0.3, "ill", "well")
    return sy.compare(truth, {"scores": scores["near"], "labels": labels}, scale=sy.Scale(["well", "ill"]), event="ill")


def frequent() -> Assessment:
    """Nothing but how frequent each of three classes is."""
    return sy.assess(["a", "b", "c", "a"] * 10, ["a", "b", "b", "a"] * 10, measures=["prevalence"])


def endless() -> Comparison:
    """Log odds of which some are infinite, or all."""
    truth, scores = binary()
    near = np.array(scores["near"])
    odds = np.log(near / (1 - near))
    odds[:2] = np.inf, -np.inf
    return sy.compare(truth, {"some": odds, "all": np.copysign(np.inf, odds)}, event="ill", threshold=0.0)


def millions() -> Comparison:
    """Counts that are wide."""
    truth, scores = binary()
    return sy.compare(
        truth, scores, event="ill", weight=[30_000] * len(truth), weight_kind="frequency", measures=["error"]
    )


def millions_of_labels() -> Comparison:
    """The same without a threshold."""
    truth, scores = binary()
    said = {name: np.where(np.asarray(score) >= 0.5, "ill", "well") for name, score in scores.items()}
    return sy.compare(
        truth, said, event="ill", weight=[30_000] * len(truth), weight_kind="frequency", measures=["error"]
    )


def trained() -> Assessment:
    """Rows that the classifier has seen stand beside the others."""
    truth, scores = binary()
    return sy.assess(truth, scores["far"], event="ill", training=(truth, scores["near"]))


def a_dozen() -> Assessment:
    """One classifier, more classes than stand side by side with others."""
    random = np.random.default_rng(6)
    names = np.array([f"species number {code}" for code in range(12)])
    truth = random.integers(0, 12, 300)
    said = np.where(random.random(300) < 0.8, truth, random.integers(0, 12, 300))
    return sy.assess(names[truth].tolist(), names[said].tolist(), measures=["error"])


def beneficial() -> Assessment:
    """A measure whose span ends at minus a ninth."""
    truth, scores = binary()
    return sy.assess(truth, scores["near"], event="ill", measures=["net_benefit(at=0.1)"])


def five_curves() -> Comparison:
    """Curves that run through one another, above and below the diagonal."""
    random = np.random.default_rng(3)
    ill = random.random(300) < 0.4
    gaps = {"a": 2.0, "b": 1.0, "c": 0.5}
    scores = {name: 1 / (1 + np.exp(0.7 - gap * ill - random.normal(size=300))) for name, gap in gaps.items()}
    scores |= {"d": 1 - scores["a"], "e": np.round(scores["b"] * 4) / 4}
    return sy.compare(np.where(ill, "ill", "well"), scores, event="ill", measures=["auc", "error"])


def hostile_threshold() -> Assessment:
    """A threshold of a class whose name is hostile, on the curve of the other one."""
    random = np.random.default_rng(9)
    ill = random.random(200) < 0.4
    score = 1 / (1 + np.exp(0.7 - 1.5 * ill - random.normal(size=200)))
    scale = sy.Scale([HOSTILE[1], "well"])
    both = np.stack([score, 1 - score], axis=1)
    return sy.assess(np.where(ill, *scale.classes), both, scale=scale).at_threshold(0.3, HOSTILE[1])


ODD = {
    each.__name__: each
    for each in (
        one_sided,
        faultless,
        certain,
        far_off,
        wordy,
        uncounted,
        half_scored,
        frequent,
        endless,
        millions,
        millions_of_labels,
        trained,
        a_dozen,
        beneficial,
        five_curves,
        hostile_threshold,
    )
}
