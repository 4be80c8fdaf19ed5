"""The order that ordered categoricals bring along, and rows that are in another order than those of the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import steelyard as sy
from steelyard.core.columns import is_of_pandas
from steelyard.core.errors import AmbiguousPrediction, MisalignedRows
from steelyard.inputs import misreadings

LEVELS = ["low", "mid", "high", "never"]
SORTED, ORDERED = ("high", "low", "mid"), ("low", "mid", "high")
RANDOM = np.random.default_rng(0)
TRUE = RANDOM.integers(0, 3, 60)
SAID = np.where(RANDOM.random(60) < 0.7, TRUE, RANDOM.integers(0, 3, 60))


def category(codes: Any, levels: list[str] = LEVELS, ordered: bool = True) -> Any:
    words = [LEVELS[code] for code in codes]
    return pd.Series(pd.Categorical(words, categories=levels, ordered=ordered))


def words(codes: Any) -> Any:
    return pd.Series([LEVELS[code] for code in codes])


TURNED = ["mid", "low", "high", "never"]


@pytest.mark.parametrize(
    ("truth", "assigned", "classes"),
    [
        (category(TRUE), category(SAID), ORDERED),
        (category(TRUE), words(SAID), ORDERED),
        (words(TRUE), category(SAID), ORDERED),
        (pl.Series(words(TRUE)).cast(pl.Enum(LEVELS)), words(SAID), ORDERED),
        (pa.DictionaryArray.from_arrays(TRUE, LEVELS, ordered=True), words(SAID), ORDERED),
        (pa.chunked_array([pa.DictionaryArray.from_arrays(TRUE, LEVELS, ordered=True)] * 1), words(SAID), ORDERED),
        (category(TRUE, ordered=False), category(SAID, ordered=False), SORTED),
        (pa.DictionaryArray.from_arrays(TRUE, LEVELS), words(SAID), SORTED),
        (category(TRUE), category(SAID, TURNED), SORTED),  # which of the two?
        (category(TRUE), words(SAID).replace("low", "lowest"), ("high", "low", "lowest", "mid")),
    ],
)
def test_classes_come_in_the_order_of_their_categories(truth: Any, assigned: Any, classes: tuple[str, ...]) -> None:
    found = sy.assess(truth, assigned)
    assert found.classes == classes
    assert ("sorted order" in found["weighted_kappa"].note) == (classes != ORDERED)


def test_an_order_is_worth_what_the_scale_is_worth() -> None:
    named = sy.assess(words(TRUE), words(SAID), scale=sy.Scale(ORDERED))
    assert sy.assess(category(TRUE), category(SAID)).table().to_json() == named.table().to_json()
    gaps = category(TRUE).where(np.arange(60) > 5)
    assert sy.assess(gaps, category(SAID), missing="drop").classes == ORDERED


def test_columns_without_names_have_no_order_where_classes_have_one_of_their_own() -> None:
    scores = np.random.default_rng(1).dirichlet(np.ones(3), 60)
    with pytest.raises(AmbiguousPrediction, match="the columns have no names"):
        sy.assess(category(TRUE), scores)
    named = sy.assess(category(TRUE), pd.DataFrame(scores, columns=list(SORTED)))
    assert named.classes == ORDERED
    assert named["accuracy"].value == sy.assess(words(TRUE), scores)["accuracy"].value
    turned = sy.assess(category(TRUE), scores[:, [1, 2, 0]], scale=sy.Scale(ORDERED))
    assert turned["accuracy"].value == named["accuracy"].value
    assert sy.assess(category(TRUE, sorted(LEVELS)), scores).classes == SORTED


def test_estimators_know_their_classes() -> None:
    covariates = TRUE[:, None] + np.random.default_rng(2).normal(size=(60, 2))
    found = sy.cross_assess("lda", covariates, category(TRUE), cv=5, seed=0)
    plain = sy.cross_assess("lda", covariates, words(TRUE), cv=5, seed=0)
    for measure in ("error", "auc", "log_score"):
        assert found["lda"][measure].value == pytest.approx(plain["lda"][measure].value, rel=1e-12)


def test_scorers_know_the_order_too() -> None:
    covariates = TRUE[:, None] + np.random.default_rng(2).normal(size=(60, 2))
    fitted = LinearDiscriminantAnalysis().fit(covariates, words(TRUE))
    named = sy.assess(words(TRUE), fitted.predict(covariates), scale=sy.Scale(ORDERED))
    score = sy.scorer("weighted_kappa")(fitted, covariates, category(TRUE))
    assert score == pytest.approx(named["weighted_kappa"].value, rel=1e-14)
    assert score != pytest.approx(sy.scorer("weighted_kappa")(fitted, covariates, words(TRUE)), rel=1e-3)
    plain = sy.scorer("log_score")(fitted, covariates, words(TRUE))
    assert sy.scorer("log_score")(fitted, covariates, category(TRUE)) == pytest.approx(plain, rel=1e-14)


@pytest.mark.parametrize("write", [parquet.write_table, feather.write_feather])
@pytest.mark.parametrize("measures", [["error", "weighted_kappa"], ["weighted_kappa", "auc"]])
def test_files_bring_the_order_along_however_they_are_read(tmp_path: Path, write: Any, measures: list[str]) -> None:
    scores = np.random.default_rng(1).dirichlet(np.ones(3), 60)
    columns = {"y": category(TRUE), **dict(zip(ORDERED, scores.T, strict=True))}
    table = pa.Table.from_pandas(pd.DataFrame(columns))
    write(table.slice(0, 25), tmp_path / f"a.{'parquet' if write is parquet.write_table else 'arrow'}")
    write(table.slice(25), tmp_path / f"b.{'parquet' if write is parquet.write_table else 'arrow'}")
    for engine in (None, "local"):
        found = sy.assess(tmp_path, truth="y", membership=list(ORDERED), measures=measures, engine=engine)
        held = sy.assess(table, truth="y", membership=list(ORDERED), measures=measures)
        assert found.classes == held.classes == ORDERED
        assert found["weighted_kappa"].value == pytest.approx(held["weighted_kappa"].value, rel=1e-14)


def test_files_that_disagree_on_the_order_have_none(tmp_path: Path) -> None:
    for name, levels in (("a", LEVELS), ("b", TURNED)):
        frame = pd.DataFrame({"y": category(TRUE, levels), "p": category(SAID, levels)})
        frame.to_parquet(tmp_path / f"{name}.parquet")
    assert sy.assess(tmp_path, truth="y", assigned="p").classes == SORTED


NAMED = pd.Series([0, 1, 1, 0], index=list("abcd"))


@pytest.mark.parametrize(
    ("truth", "assigned", "row"),
    [
        (NAMED, NAMED, None),
        (NAMED, NAMED[::-1], 0),
        (NAMED, NAMED.loc[["a", "b", "d", "c"]], 2),
        (NAMED, NAMED.reset_index(drop=True), None),  # nobody named these rows
        (NAMED, NAMED.to_numpy()[::-1], None),
        (NAMED, NAMED.rename(index={"a": "z"})[::-1], 0),  # one of the rows is another
        (NAMED.reset_index(drop=True), NAMED.reset_index(drop=True).sample(frac=1, random_state=1), 0),
        (NAMED.sample(frac=1, random_state=1), pd.Series([0, 1, 1, 0]), None),
        (NAMED, pd.DataFrame({0: 1.0 - NAMED, 1: NAMED.astype(float)})[::-1], 0),
    ],
)
def test_rows_in_another_order_are_refused(truth: Any, assigned: Any, row: int | None) -> None:
    if row is None:
        assert sy.assess(truth, assigned).n == 4
        return
    with pytest.raises(MisalignedRows, match=f"column 'prediction', row {row}: "):
        sy.assess(truth, assigned)
    said, true = (repr(each.index.tolist()[row]) for each in (assigned, truth))
    with pytest.raises(MisalignedRows, match=f"the index says {said}, and that of the truth {true}"):
        sy.assess(truth, assigned)
    with pytest.raises(MisalignedRows, match="column 'second'"):
        sy.compare(truth, {"first": truth, "second": assigned})


def test_columns_by_class_too() -> None:
    chance = NAMED.astype(float)
    with pytest.raises(MisalignedRows, match=r"column 'prediction\[1\]', row 0"):
        sy.assess(NAMED, {0: 1 - chance, 1: chance[::-1]})
    assert sy.assess(NAMED, {0: 1 - chance, 1: chance})["error"].value == 0.0


def test_weights_and_clusters_too() -> None:
    other = NAMED[::-1] + 1
    for options in ({"weight": other}, {"group": other}):
        with pytest.raises(MisalignedRows, match=f"column '{next(iter(options))}', row 0"):
            sy.assess(NAMED, NAMED.to_numpy(), **options)  # type: ignore[arg-type]


def test_what_classifiers_are_fitted_to_too() -> None:
    variables = pd.DataFrame({"x": np.arange(len(NAMED), dtype=float)}, index=NAMED.index)
    options: dict[str, Any] = {"cv": 2, "measures": ["error"]}
    with pytest.raises(MisalignedRows, match=r"column 'X', row 0: .*as X\.loc\[truth\.index\]"):
        sy.cross_assess("prior", variables[::-1], NAMED, **options)
    with pytest.raises(MisalignedRows, match="column 'groups', row 0"):
        sy.cross_assess("prior", variables, NAMED, groups=NAMED[::-1], **options)
    assert sy.cross_assess("prior", variables, NAMED, **options).tally.rows == len(NAMED)


def test_labels_in_a_list_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a truth with an index, that took longer than all the rest."""
    looked_at = []

    def noted(column: Any) -> bool:
        looked_at.append(column)
        return is_of_pandas(column)

    monkeypatch.setattr(misreadings, "is_of_pandas", noted)
    misreadings.refuse_misaligned(NAMED, {"prediction": ["a", "b", None] * 1000})
    assert len(looked_at) < 10
    with pytest.raises(MisalignedRows, match=r"column 'response\[1\]', row 0"):
        misreadings.refuse_misaligned(NAMED, {"response": (0.5, NAMED[::-1])})


def test_scores_in_per_cent_are_told_from_labels() -> None:
    with pytest.raises(sy.SteelyardError, match="divide per cent by 100"):
        sy.assess([0, 1, 1], [10.0, 90.0, 40.0], event=1)
    with pytest.raises(sy.SteelyardError, match="Divide scores so that they end at 1"):
        sy.assess([0, 1, 1], [10.0, 90.0, 40.0])


def test_parts_come_in_the_order_of_their_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"truth": words(TRUE), "said": words(SAID), "part": category(SAID[::-1])})
    found = sy.assess(frame, truth="truth", assigned="said", by="part")
    assert tuple(found.slices) == ORDERED
    assert list(dict.fromkeys(found.table()["slice"])) == [None, *ORDERED]
    assert tuple(sy.compare(frame, {"a": "said"}, truth="truth", by="part").slices) == ORDERED
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    assert tuple(sy.assess(path, truth="truth", assigned="said", by="part").slices) == ORDERED
    frame["part"] = words(SAID[::-1])
    assert tuple(sy.assess(frame, truth="truth", assigned="said", by="part").slices) == SORTED


def test_crossed_parts_come_in_the_order_of_each() -> None:
    by = {"part": category(SAID[::-1]), "site": np.arange(60) % 2 * 8 + 2}
    shown = [f"part={part}, site={site}" for part in ORDERED for site in (2, 10)]
    assert list(sy.assess(words(TRUE), words(SAID), by=by).slices) == shown


def test_merged_parts_keep_an_order_that_all_have(tmp_path: Path) -> None:
    def tally(part: Any) -> sy.Tally:
        return sy.assess(words(TRUE)[: len(part)], words(SAID)[: len(part)], scale=sy.Scale(ORDERED), by=part).tally

    low, high = tally(category([0, 0, 1])), tally(category([2, 2]))
    for merged in (low + high, high + low, low + sy.Tally.empty(low.scale, low.models) + high):
        assert merged.parts == ORDERED
    merged.save(tmp_path / "all.tally")
    assert sy.Tally.load(tmp_path / "all.tally").parts == ORDERED
    assert (merged - high).parts == ("low", "mid")
    for other in (tally(category([2, 2], TURNED)), tally(words([2, 2]))):
        assert (low + other).parts == (other + low).parts == SORTED
