"""What a notebook shows: calm HTML without scripts, in which nothing from data acts."""

from __future__ import annotations

import importlib.util
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from types import ModuleType

import matplotlib
import pytest

import steelyard as sy

matplotlib.use("Agg")
DOCS = Path(__file__).resolve().parents[2] / "docs"

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
EVIL = "<script>alert(1)</script><img src=x onerror=y>&\"'\n\x1b[31m"
ALLOWED = {"style", "div", "p", "b", "br", "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"}


class Reader(HTMLParser):
    """The tags and the text of a page; tags must be closed in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert not reader.open
    return reader


def test_an_assessment_shows_its_main_measures_and_folds_the_rest() -> None:
    page = sy.assess(IRIS, truth="species", membership="lda_*")._repr_html_()
    seen = read(page)
    assert "prediction: error 0.200 [0.144, 0.271]" in seen.text
    assert "all 25 measures" in seen.text
    assert seen.tags.count("details") == 3
    assert set(seen.tags) <= ALLOWED


def test_a_comparison_begins_with_its_verdict() -> None:
    page = sy.compare(IRIS, {"lda": "lda_*", "knn": "knn_*"}, truth="species")._repr_html_()
    assert "lda and knn can't be told apart by error." in read(page).text


def test_measures_without_an_overall_value_have_no_headline_of_their_own() -> None:
    page = sy.assess(IRIS, truth="species", membership="lda_*", measures=["prevalence"])._repr_html_()
    assert "prediction150 rows" in read(page).text


def test_names_cannot_act() -> None:
    result = sy.compare([EVIL, "b", "b"], {EVIL: [EVIL, "b", EVIL], "m": [EVIL, "b", "b"]})
    for page in (result._repr_html_(), result[EVIL]._repr_html_()):
        seen = read(page)
        assert set(seen.tags) <= ALLOWED
        assert seen.attributes <= {"class"}
        assert "\x1b" not in page
        assert "<script>alert(1)</script>" in seen.text


def test_nothing_is_fetched_and_colours_are_those_of_the_notebook() -> None:
    page = sy.assess(["a", "b"], ["a", "b"])._repr_html_()
    for word in ("url(", "http", "@import", "<script", "background:#", "color:#"):
        assert word not in page


def test_tables_are_as_wide_as_the_notebook() -> None:
    """The last of six classifiers were hidden beyond 60em, however wide the window; only prose ends there."""
    page = sy.compare(["a", "b"], {name: ["a", "b"] for name in "uvwxyz"})._repr_html_()
    (whole,) = [line for line in page.splitlines() if line.startswith(".steelyard{")]
    assert "max-width" not in whole
    assert "overflow-x:auto" in whole


# --- the example notebook ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def notebooks() -> ModuleType:
    """docs/notebooks.py, which is no part of any package."""
    spec = importlib.util.spec_from_file_location("docs_notebooks", DOCS / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notebooks_run_and_show_what_they_have_stored(notebooks: ModuleType) -> None:
    assert notebooks.notebooks()
    for path in notebooks.notebooks():
        stored = notebooks.read(path)
        assert notebooks.texts(notebooks.executed(stored)) == notebooks.texts(stored), path.name
        assert path.stat().st_size < 300_000


def test_a_stale_notebook_is_noticed(notebooks: ModuleType) -> None:
    cell = {"cell_type": "code", "source": ["print(1)\n", "1 + 1"], "outputs": []}
    now = notebooks.executed({"cells": [cell]})
    assert notebooks.texts(now) == [
        ("stream", ["1\n"], {}),
        ("execute_result", None, {"text/plain": ["2"]}),
    ]
    assert notebooks.texts({"cells": [cell]}) != notebooks.texts(now)
