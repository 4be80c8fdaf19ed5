"""Markdown for pull requests: what it tells, and that names from data are shown and never obeyed."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.cli import main
from steelyard.cli.output import escaped, markdown_document
from steelyard.data.whole_files import ENDING_OF_MARKDOWN
from steelyard.display.digest import assessment_digest, comparison_digest

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
LDA = ["assess", IRIS, "--truth", "species", "--membership", "lda_*"]
BOTH = ["compare", IRIS, "--truth", "species", "--model", "lda=lda_*", "--model", "knn=knn_*"]
EVIL = "a|b`c`<script>x</script>\n# head\n@you #1 [x](y) *b* _i_ $e$ :tada: www.a.b http://a.b ![x](y) \x1b[31m"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    said = capsys.readouterr()
    return status, said.out, said.err


def test_assess_tells_headline_requirements_and_measures(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*LDA, "--markdown", "--require", "error.high < 0.3", "--require", "kappa.low > 0.6"]
    status, out, err = printed(capsys, *words)
    assert status == 1
    assert out.startswith("### prediction: error 0.200 [0.144, 0.271]\n")
    assert "❌ **1 of 2 requirements not held**" in out
    assert "| <code>error.high &#60; 0.3</code> | 0.2711 | ✅ |" in out
    assert "| <code>kappa.low &#62; 0.6</code> | 0.5852 | ❌ no |" in out
    assert "| ↑ kappa | 0.700 | [0.585, 0.778] |" in out
    assert "| versicolor | 1 | 35 | 14 | 50 |" in out
    assert "NOT HELD: kappa.low > 0.6" in err


def test_compare_cv_and_merge_tell_a_verdict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = printed(capsys, *BOTH, "--markdown", "--measure", "kappa")
    assert status == 0
    assert out.startswith("### lda and knn can't be told apart by kappa.\n")
    assert "<summary>differences in kappa (a - b)</summary>" in out
    words = ["cv", IRIS, "--target", "species", "--models", "lda,prior", "--measures", "error", "--seed", "1"]
    out = printed(capsys, *words, "--markdown")[1]
    assert out.startswith("### lda beats prior by error.\n")
    assert "cross-validated: 10 folds, stratified by class" in out
    tally = tmp_path / "both.tally"
    assert main(["tally", *BOTH[1:], "--out", str(tally)]) == 0
    capsys.readouterr()
    out = printed(capsys, "merge", str(tally), "--markdown", "--measures", "error")[1]
    assert out.startswith("### lda and knn can't be told apart by error.\n")


def test_a_file_is_written_whole_and_tables_are_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "summary.md"
    out = printed(capsys, *LDA, "--measures", "error", "--markdown", str(target))[1]
    assert "true ↓" in out
    assert target.read_text(encoding="utf-8").startswith("### prediction: error")


def unescaped_rows(text: str) -> list[list[str]]:
    return [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]


def test_names_are_shown_and_not_obeyed() -> None:
    result = sy.compare([EVIL, "b", EVIL], {EVIL: [EVIL, "b", "b"], "m|n": [EVIL, EVIL, EVIL]})
    for text in (markdown_document(comparison_digest(result)), markdown_document(assessment_digest(result[EVIL]))):
        bare = re.sub(r"</?(details|summary|code)>", "", text.removesuffix(f"{ENDING_OF_MARKDOWN}\n"))
        assert not set("<>`*_$@!\\\x1b") & set(bare)
        assert "](" not in bare
        assert "www." not in bare
        assert "http:/" not in bare
        assert not [line for line in bare.splitlines() if line.startswith("# ")]
        rows = unescaped_rows(text)
        assert {len(row) for row in rows[:2]} == {len(rows[0])}
    head = markdown_document(comparison_digest(result)).splitlines()
    table = next(line for line in head if line.startswith("| measure"))
    assert table.count("|") == 4, "two classifiers, three columns"


@given(st.text(max_size=60))
def test_any_text_stays_in_its_cell(text: str) -> None:
    import html

    from steelyard.core.errors import harmless

    shown = escaped(text)
    assert not set("|<>`*_\\\n\r$@#!~") & set(re.sub(r"&#\d+;", "", shown))
    assert html.unescape(shown).replace("\u200b", "") == harmless(text).strip()


def test_marks_around_names_that_are_read_from_the_right_are_not_spelled_out() -> None:
    result = sy.compare(["a", "b", "a"], {"שלום": ["a", "b", "b"], "سلام": ["a", "a", "a"], "m": ["a", "b", "a"]})
    for text in (markdown_document(comparison_digest(result)), result._repr_html_()):
        assert "שלום" in text
        assert not [mark for mark in ("u2068", "u2069", "\u2068", "\u2069") if mark in text]
