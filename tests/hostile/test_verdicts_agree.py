"""One verdict: library, terminal, JSON, Markdown, notebook and HTML say the same, and never more than the rows."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.cli.output import markdown_document
from steelyard.display.digest import comparison_digest
from steelyard.display.report import content_of
from steelyard.inference.differences import holm

from .amount import FULL

MEASURES = ["error", "auc", "log_score"]


def said(models: int, rows: int = 300, seed: int = 0) -> dict[str, Any]:
    """Truth and scores of classifiers, each a little better than the one before."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, rows)
    columns = {
        f"m{place + 1}": np.round(
            1 / (1 + np.exp(-(2 * truth - 1) * (place + 1) / models - random.normal(size=rows))), 6
        )
        for place in range(models)
    }
    return {"truth": truth, **columns}


@pytest.mark.parametrize("models", [2, 3, 12, 40 if FULL else 20])
def test_weak_point_12_every_output_has_the_same_verdict(
    models: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = said(models)
    truth, scores = columns["truth"], {name: values for name, values in columns.items() if name != "truth"}
    found = sy.compare(truth, scores, event=1, measures=MEASURES)
    verdict = found.verdict()
    sentences = verdict.words().splitlines()
    assert str(found).endswith(verdict.words())
    pd.DataFrame(columns).to_csv(tmp_path / "rows.csv", index=False)
    named = [part for name in scores for part in ("--model", f"{name}={name}")]
    outputs = {kind: str(tmp_path / f"out.{kind}") for kind in ("json", "md", "html")}
    asked = ["--truth", "truth", "--event", "1", "--measures", ",".join(MEASURES)]
    targets = ["--json", outputs["json"], "--markdown", outputs["md"], "--html", outputs["html"]]
    assert main(["compare", str(tmp_path / "rows.csv"), *asked, *named, *targets]) == 0
    printed = capsys.readouterr().out
    told = json.loads(Path(outputs["json"]).read_text())
    assert told["verdict"]["words"] == sentences
    page, short = (html.unescape(Path(outputs[kind]).read_text()) for kind in ("html", "md"))
    for sentence in sentences:
        assert sentence in re.sub(r"\s+", " ", printed)
        assert sentence in page.replace("\\u003c", "<")  # as JSON in a page writes it
        assert sentence in short
        assert sentence in html.unescape(found._repr_html_())
    assert content_of(found)["verdict"] == sentences
    by_pair = {(row["measure"], row["a"], row["b"]): row["p_adjusted"] for row in verdict.table()}
    for rows in (told["verdict"]["rows"], told["differences"], list(found.differences())):
        assert {(row["measure"], row["a"], row["b"]): row["p_adjusted"] for row in rows} == pytest.approx(
            by_pair, rel=1e-12
        )
    for measure in MEASURES:
        alone = found.verdict(measure)
        assert alone.table()["p_adjusted"] == [p for (name, *_), p in by_pair.items() if name == measure]
        assert models == 2 or alone.words() in sentences


@pytest.mark.parametrize("models", [3, 12, 40])
def test_weak_point_12_the_family_of_the_adjustment_is_named(models: int) -> None:
    columns = said(models)
    truth = columns.pop("truth")
    verdict = sy.compare(truth, columns, event=1, measures=MEASURES).verdict()
    for measure, sentence in zip(MEASURES, verdict.words().splitlines(), strict=True):
        rows = [row for row in verdict.table() if row["measure"] == measure]
        assert sentence.endswith(f" (Holm over {models * (models - 1) // 2} comparisons).")
        assert [row["p_adjusted"] for row in rows] == holm([row["p"] for row in rows])
        assert sentence in verdict.words(numbers=False) or models == 3


def test_weak_point_12_a_pair_without_a_difference_is_no_part_of_the_family() -> None:
    columns = said(4)
    truth = columns.pop("truth")
    columns["m1"] = np.where(np.arange(len(truth)) == truth.argmax(), 0.0, columns["m1"])
    verdict = sy.compare(truth, columns, event=1, measures=["log_score"]).verdict()
    assert str(verdict).endswith("(Holm over 3 comparisons).")


# --- rows of probability 0 ------------------------------------------------------------------------------------


def with_noughts(rows: int, noughts: int, seed: int = 1) -> tuple[Any, dict[str, Any]]:
    """Two classifiers of like scores, one of which gives probability 0 to what came true."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, rows)
    a, b = (np.clip(0.5 + 0.3 * (truth - 0.5) + random.normal(0, 0.1, rows), 0.05, 0.95) for _ in range(2))
    b[np.flatnonzero(truth)[:noughts]] = 0.0
    return truth, {"a": a, "b": b}


@pytest.mark.parametrize("method", ["delta", "plain", "bootstrap", "percentile"])
@pytest.mark.parametrize(
    ("noughts", "words"),
    [(1, "1 row to which b gave probability 0 decides"), (3, "3 rows to which b gave probability 0 decide")],
)
def test_weak_point_18_rows_of_probability_0_give_no_p_value(method: Any, noughts: int, words: str) -> None:
    truth, scores = with_noughts(100, noughts)
    found = sy.compare(truth, scores, event=1, method=method, replicates=200, measures=["log_score", "error"])
    reason = f"{words} this; no p-value"
    row = found.differences("log_score").to_pylist()[0]
    assert row["difference"] == -math.inf
    assert all(math.isnan(row[name]) for name in ("low", "high", "se", "p", "p_adjusted"))
    assert row["note"] == reason
    assert str(found.verdict("log_score")) == f"a and b can't be compared by log score: {reason}."
    assert (
        reason in str(found) and reason in markdown_document(comparison_digest(found)) and reason in found._repr_html_()
    )
    content = content_of(found)
    assert reason in content["verdict"][0]
    (shown,) = [one for one in content["differences"]["rows"] if one["measure"] == "log score"]
    assert (shown["p"], shown["p_adjusted"], shown["told_apart"], shown["note"]) == (None, None, False, reason)
    assert "<0.001" not in (shown["p_text"], shown["p_adjusted_text"])


@pytest.mark.parametrize("cluster", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_weak_point_18_nor_with_weights_or_clusters(cluster: bool, weighted: bool) -> None:
    truth, scores = with_noughts(120, 1)
    given: dict[str, Any] = {"group": np.arange(120) // 4} if cluster else {}
    given |= {"weight": np.random.default_rng(3).random(120) + 0.5} if weighted else {}
    row = sy.compare(truth, scores, event=1, measures=["log_score"], **given).differences().to_pylist()[0]
    assert math.isnan(row["p"]) and math.isnan(row["high"])
    assert row["note"] == "1 row to which b gave probability 0 decides this; no p-value"


def test_weak_point_18_of_several_only_those_that_are_infinite_are_left_out() -> None:
    truth, scores = with_noughts(100, 1)
    found = sy.compare(truth, {**scores, "c": scores["a"][::-1]}, event=1, measures=["log_score"])
    by = {(row["a"], row["b"]): row for row in found.differences()}
    assert math.isnan(by["b", "c"]["p"]) and by["b", "c"]["difference"] == math.inf
    assert 0 <= by["a", "c"]["p"] <= by["a", "c"]["p_adjusted"] <= 1
    assert "can't be compared with b (1 row to which b gave probability 0 decides this; no p-value)" in str(
        found.verdict()
    )


@pytest.mark.parametrize("bound", [".high < 0", " < 0", ".low < 1", ".value < 0.5"])
def test_weak_point_18_no_requirement_is_held_by_rows_of_probability_0(
    bound: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth, scores = with_noughts(100, 1)
    pd.DataFrame({"truth": truth, **scores}).to_csv(tmp_path / "rows.csv", index=False)
    common = [str(tmp_path / "rows.csv"), "--truth", "truth", "--event", "1", "--model", "a=a", "--model", "b=b"]
    code = main(["compare", *common, "--measures", "log_score", "--require", f"(a - b).log_score{bound}"])
    out = capsys.readouterr().out
    assert code == 1
    assert "NOT HELD" in out and "gave probability 0" in re.sub(r"\s+", " ", out)


def test_weak_point_18_cross_validation_says_the_same() -> None:
    from sklearn.tree import DecisionTreeClassifier

    random = np.random.default_rng(0)
    x = random.normal(size=(120, 3))
    y = (x[:, 0] + random.normal(size=120) > 0).astype(int)
    found = sy.cross_assess({"tree": DecisionTreeClassifier(random_state=0), "lda": "lda"}, x, y, cv=5, event=1, seed=0)
    row = found.differences("log_score").to_pylist()[0]
    assert row["difference"] == math.inf and math.isnan(row["p"]) and "tree gave probability 0" in row["note"]
    assert "by log score they can't be compared: " in str(found.verdict())
