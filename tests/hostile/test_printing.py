"""What is printed fits on a screen, says what it leaves out, and leaves nothing out of files."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.cli.output import markdown_document
from steelyard.core.table import Table
from steelyard.core.text import MOST_LINES, add_row
from steelyard.display.digest import assessment_digest, comparison_digest

LEFT_OUT = re.compile(r"… ([\d,]+) rows left out: to_csv\(\) has all ([\d,]+)")


def scored(rows: int) -> Any:
    random = np.random.default_rng(0)
    return sy.assess(random.integers(0, 2, rows), random.random(rows), event=1, measures=["sensitivity", "auc"])


def long_tables() -> dict[str, Table]:
    random = np.random.default_rng(1)
    few = scored(4_000)
    truth, said = random.integers(0, 200, 4_000), random.integers(0, 200, 4_000)
    models = {f"m{place}": random.integers(0, 2, 100) for place in range(50)}
    pairs = sy.compare(random.integers(0, 2, 100), models, event=1, measures=["error"])
    parts = sy.assess(truth % 2, said % 2, event=1, by=np.arange(4_000) // 2, measures=["error"])
    return {
        "thresholds": few.thresholds(["sensitivity", "specificity"]),
        "roc": few.curve("roc", band="none"),
        "classes": sy.assess(truth, said).table(),
        "pairs": pairs.differences("error"),
        "verdict": pairs.verdict("error").table(),
        "subgroups": parts.table(),
        "deciding": pairs.deciding_rows("error", "m0", "m1", most=90),
    }


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return long_tables()


@pytest.mark.parametrize("kind", ["thresholds", "roc", "classes", "pairs", "verdict", "subgroups", "deciding"])
def test_weak_point_39_a_long_table_is_printed_as_head_and_tail(kind: str, tables: dict[str, Table]) -> None:
    table = tables[kind]
    text, page = repr(table), table._repr_html_()
    assert len(text.splitlines()) <= MOST_LINES == 60
    for shown in (text, page):
        found = LEFT_OUT.search(shown)
        assert found is not None
        assert int(found[2].replace(",", "")) == len(table)
    shown_rows = len(table) - int(LEFT_OUT.search(page)[1].replace(",", ""))  # type: ignore[index]
    assert page.count("<tr>") == shown_rows + 2
    assert len(page) < 50_000
    assert len(table.to_csv().splitlines()) == len(table) + 1


def test_weak_point_39_only_rows_that_are_shown_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """4,000 thresholds took 21 seconds, because each was laid out."""
    drawn = []

    def counted(table: Any, cells: Any) -> None:
        drawn.append(1)
        add_row(table, cells)

    monkeypatch.setattr("steelyard.core.table.add_row", counted)
    repr(scored(4_000).thresholds())
    assert 0 < len(drawn) <= 2 * MOST_LINES


@pytest.mark.parametrize("rows", [0, 1, 39, 40])
def test_short_tables_are_printed_whole(rows: int) -> None:
    text = repr(Table({"a": list(range(1000, 1000 + rows)), "b": ["x"] * rows}))
    assert "left out" not in text
    assert all(f"{1000 + row:,}"[0] in text for row in range(rows))
    assert text.count("x") == rows


@pytest.mark.parametrize("rows", [41, 100, 10_000])
def test_the_line_in_between_counts_what_is_left_out(rows: int) -> None:
    text = repr(Table({"number": [f"n{row}n" for row in range(rows)]}))
    found = LEFT_OUT.search(text)
    assert found is not None
    seen = re.findall(r"n(\d+)n", text)
    assert len(seen) + int(found[1].replace(",", "")) == rows
    assert seen[0] == "0" and seen[-1] == str(rows - 1)


def test_cells_of_several_lines_and_labels_that_look_like_the_gap_do_not_make_it_longer() -> None:
    long = Table({"text": ["word " * 90] * 500, "more": ["…"] * 500})
    assert len(repr(long).splitlines()) <= MOST_LINES
    assert "left out" in repr(long)
    assert "left out" not in repr(Table({"a": ["…"] * 3}))


@pytest.mark.parametrize("columns", [25, 200, 1_000])
def test_wide_tables_say_how_many_columns_they_do_not_show(columns: int) -> None:
    wide = Table({f"c{place}": [place] * 3 for place in range(columns)})
    assert f"… and {columns - 16:,} more columns: to_csv() has all" in repr(wide)
    assert f"… and {columns - 16:,} more columns: to_csv() has all" in wide._repr_html_()
    assert len(repr(wide).splitlines()) <= MOST_LINES


@pytest.mark.parametrize("models", [2, 6, 7, 8, 9, 20, 50])
def test_weak_point_39_comparisons_fit_on_a_screen(models: int) -> None:
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 60)
    said = {f"m{place}": np.clip(0.2 * truth + 0.8 * random.random(60), 0.01, 0.99) for place in range(models)}
    measures = None if models < 10 else ["error", "kappa"]
    found = sy.compare(truth, said, event=1, measures=measures, by=np.arange(60) % 20 if models == 9 else None)
    text = str(found)
    assert len(text.splitlines()) <= MOST_LINES
    assert len(found._repr_html_()) < 60_000 and len(markdown_document(comparison_digest(found))) < 60_000
    if models > 20:
        assert f"… and {models - 20:,} more" in text
        assert found.best("error") in text


@pytest.mark.parametrize("classes", [2, 12, 200])
@pytest.mark.parametrize("parts", [0, 500])
def test_weak_point_39_assessments_fit_on_a_screen(classes: int, parts: int) -> None:
    random = np.random.default_rng(3)
    truth, said = random.integers(0, classes, 2_000), random.integers(0, classes, 2_000)
    found = sy.assess(truth, said, by=np.arange(2_000) % parts if parts else None, measures=["error", "sensitivity"])
    assert len(str(found).splitlines()) <= MOST_LINES
    assert len(markdown_document(assessment_digest(found))) < 60_000
    if parts:
        assert repr(found.slices).startswith("500 parts of the data: ") and len(repr(found.slices)) < 500
