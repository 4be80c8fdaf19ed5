"""What results disclose: no single row, no folder, and nothing of subgroups that are too small, unless asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.cli.output import markdown_document, without_folders
from steelyard.core.errors import BadOption
from steelyard.display.digest import assessment_digest, comparison_digest
from steelyard.display.report import content_of

SECRET = 0.123456789


def rows(size: int = 60, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, size)
    return truth, {name: np.clip(0.3 * truth + 0.7 * random.random(size), 0.01, 0.99) for name in "ab"}


def classes(size: int = 40) -> tuple[Any, dict[str, Any]]:
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, size)
    scores = {name: random.random((size, 3)) + 0.4 * np.eye(3)[truth] for name in "ab"}
    return truth, {name: each / each.sum(axis=1, keepdims=True) for name, each in scores.items()}


@pytest.mark.parametrize("make", [rows, classes])
def test_a_page_shows_no_single_rows_unless_asked(make: Any) -> None:
    truth, scores = make()
    found = sy.compare(truth, scores, event=1 if make is rows else None)
    plain, asked = content_of(found), content_of(found, rows=True)
    assert all(one["rows"] is None for one in plain["deciding"])
    assert any(one["rows"] is not None for one in asked["deciding"])
    if make is classes:
        assert all("radius" in panel for panel in plain["simplex"]["panels"])  # cells, with numbers of rows
        assert all(len(panel["x"]) == len(truth) and "rows" not in panel for panel in asked["simplex"]["panels"])


def test_a_page_of_a_continuum_has_bars_and_no_marks_unless_asked() -> None:
    value = np.append(np.random.default_rng(0).normal(size=39), SECRET)
    said = (value > 0.1).astype(int)
    found = sy.assess(value, said, scale=sy.Continuum([0.0], [0, 1], sd=0.1))
    plain, asked = (content_of(found, rows=shown)["strip"]["models"][0] for shown in (False, True))
    assert "value" not in plain and "from" in plain
    assert len(asked["value"]) == len(value)


def test_the_command_in_a_page_has_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "secret folder"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    truth, scores = rows()
    pd.DataFrame({"truth": truth, "a/b": scores["a"]}).to_csv(folder / "rows.csv", index=False)
    (folder / "costs.csv").write_text("truth,0,1\n0,0,1\n1,2,0\n")
    for file, page in (
        (folder / "rows.csv", folder / "p.html"),
        (Path("secret folder/rows.csv"), Path("secret folder/q.html")),
    ):
        asked = ["--truth", "truth", "--score", "a/b", "--event", "1", "--cost", f"{folder}/costs.csv"]
        assert main(["assess", str(file), *asked, f"--html={page}", "--quiet"]) == 0
        text = page.read_text()
        assert "secret" not in text and str(tmp_path) not in text
        assert "rows.csv" in text and "--html=" in text and "costs.csv" in text and "a/b" in text


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("steelyard assess /data/x/rows.csv --truth t", "steelyard assess rows.csv --truth t"),
        ("steelyard assess 'file:///data/x/rows.csv'", "steelyard assess rows.csv"),
        ("steelyard merge '/data/**/*.tally' --csv=/out/a.csv", "steelyard merge '*.tally' --csv=a.csv"),
        (
            "steelyard assess r.csv --threshold cost:/data/costs.csv",
            "steelyard assess r.csv --threshold cost:costs.csv",
        ),
        ("steelyard compare ../r.csv --model 'a=x/y'", "steelyard compare r.csv --model a=x/y"),
        ("steelyard assess r.csv --where 'km/h > 3'", "steelyard assess r.csv --where 'km/h > 3'"),
    ],
)
def test_folders_are_left_out_of_commands_and_columns_stay(command: str, said: str) -> None:
    assert without_folders(command) == said


def test_the_page_shows_rows_where_the_command_line_asks(tmp_path: Path) -> None:
    truth, scores = rows()
    pd.DataFrame({"truth": truth, **scores}).to_csv(tmp_path / "rows.csv", index=False)
    common = [
        "compare",
        str(tmp_path / "rows.csv"),
        "--truth",
        "truth",
        "--event",
        "1",
        "--model",
        "a=a",
        "--model",
        "b=b",
    ]
    page = tmp_path / "page.html"
    for more, seen in (([], False), (["--show-rows"], True)):
        assert main([*common, f"--html={page}", "--quiet", *more]) == 0
        data = re.search(r'"deciding":(\[.*?\]),"folds"', page.read_text())
        assert data is not None
        assert any(one["rows"] for one in json.loads(data[1])) == seen


# --- small subgroups --------------------------------------------------------------------------------------------


def parted(least: int, sizes: dict[str, int] | None = None, **options: Any) -> tuple[Any, Any]:
    """One assessment and one comparison by parts, the small one of 7 rows."""
    sizes = {"north": 40, "south": 35, "tiny": 7} if sizes is None else sizes
    part = np.repeat(list(sizes), list(sizes.values()))
    truth, scores = rows(len(part))
    common: dict[str, Any] = {"event": 1, "by": part, "least": least, **options}
    return sy.assess(truth, scores["a"], **common), sy.compare(truth, scores, **common)


@pytest.mark.parametrize("method", ["delta", "plain", "percentile"])
def test_small_subgroups_are_replaced_by_a_note_everywhere(method: Any) -> None:
    one, two = parted(20, method=method, replicates=100, measures=["error", "kappa", "auc", "log_score", "sensitivity"])
    for found in (one, two):
        small = [row for row in found.table() if row["slice"] == "tiny"]
        assert small
        for row in small:
            assert all(np.isnan(row[name]) for name in ("value", "low", "high", "se", "n"))
            assert row["note"] == "fewer than 20 rows"
        assert all(row["n"] >= 35 for row in found.table() if row["slice"] != "tiny")
    for part in (two.slices["tiny"], two.slices["north"]):
        hidden = part.slice == "tiny"
        assert all(np.isnan(row["difference"]) == hidden for row in part.differences(["error", "auc"]))
        assert all((row["note"] == "fewer than 20 rows") == hidden for row in part.differences(["error", "auc"]))
    texts = [
        str(one),
        str(two),
        one._repr_html_(),
        markdown_document(assessment_digest(one)),
        markdown_document(comparison_digest(two)),
    ]
    for text in texts:
        (line,) = [line for line in re.split(r"\n|<tr>", text) if "tiny" in line and "classifiers" not in line]
        assert "<20" in line or "&lt;20" in line or "&#60;20" in line
        assert not re.search(r"\d\.\d|\b7\b", line)
    page = content_of(two)["slices"]
    place = page["names"].index("tiny")
    assert page["rows"][place] == "<20"
    assert all(cell[place][0] == "–" for measure in page["cells"] for cell in measure)


def test_a_small_subgroup_tells_nothing_when_it_is_taken_by_itself(tmp_path: Path) -> None:
    one, two = parted(20)
    tiny = one.slices["tiny"]
    assert np.isnan(tiny.n) and np.isnan(tiny["error"].value) and np.isnan(tiny["sensitivity", 1].n)
    assert tiny["error"].certified[0] != tiny["error"].certified[0] and tiny.notes == ["fewer than 20 rows"]
    assert "fewer than 20 rows" in str(tiny) and not re.search(r"\b7 rows", str(tiny))
    for asked in (
        tiny.confusion,
        lambda: tiny.report(tmp_path / "x.html"),
        lambda: two.slices["tiny"].mcnemar("a", "b"),
        lambda: two.slices["tiny"].deciding_patterns("error", "a", "b"),
    ):
        with pytest.raises(BadOption, match="has fewer than 20 rows"):
            asked()
    assert "can't be compared" in str(two.slices["tiny"].verdict("error"))
    assert str(two.slices["tiny"])


@pytest.mark.parametrize(("least", "hidden"), [(0, 0), (1, 0), (7, 0), (8, 1), (36, 2), (1_000, 3)])
def test_parts_of_as_many_rows_are_reported(least: int, hidden: int) -> None:
    one, _ = parted(least)
    assert sum(bool(part.hidden) for part in one.slices.values()) == hidden
    assert one.n == 82 and not one.hidden


def test_numbers_of_other_parts_and_of_all_are_what_they_were() -> None:
    (hidden, _), (open_, _) = parted(20), parted(0)
    for one, other in zip(hidden.table(), open_.table(), strict=True):
        if one["slice"] != "tiny":
            assert {k: v for k, v in one.items() if v == v} == {k: v for k, v in other.items() if v == v}  # noqa: PLR0124


@pytest.mark.parametrize("least", [-1, 2.5, "many", True, None])
def test_what_is_no_number_of_rows_is_refused(least: Any) -> None:
    with pytest.raises(BadOption, match="least is "):
        sy.assess([0, 1], [0, 1], event=1, least=least)


def test_small_subgroups_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {"north": 40, "tiny": 7}
    truth, scores = rows(47)
    frame = pd.DataFrame({"truth": truth, **scores, "place": np.repeat(list(sizes), list(sizes.values()))})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    common = [str(tmp_path / "rows.csv"), "--truth", "truth", "--event", "1", "--by", "place"]
    asked = ["compare", *common, "--model", "a=a", "--model", "b=b", "--least", "20"]
    out = tmp_path / "out.json"
    assert main([*asked, f"--json={out}", "--require", "a.error < 1 in every part"]) == 1
    assert "fewer than 20 rows" in re.sub(r"\s+", " ", capsys.readouterr().out)
    told = json.loads(out.read_text())
    for row in (*told["estimates"], *told["differences"]):
        if row["slice"] == "tiny":
            assert row["note"] == "fewer than 20 rows"
            assert all(row[name] is None for name in ("low", "high", "se"))
    tally = tmp_path / "t.tally"
    assert main(["tally", *common, "--model", "a=a", "--out", str(tally), "--quiet"]) == 0
    assert main(["merge", str(tally), "--least", "20", f"--csv={tmp_path}/t.csv", "--quiet"]) == 0
    merged = pd.read_csv(tmp_path / "t.csv")
    assert merged[merged.slice == "tiny"][["value", "n"]].isna().all().all()
