"""The documentation tells the truth: examples run and print what is shown, links lead somewhere, nothing is stale."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib
import pytest
from matplotlib import pyplot

import steelyard
from steelyard import all_measures
from steelyard.cli import main
from steelyard.core import errors
from steelyard.measures import registry

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *sorted(DOCS.glob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

# "pycon" is run as a doctest and "console" as commands; the rest is only shown.
LANGUAGES = {"pycon", "console", "csv", "json", "sh", "text", "yaml"}
FENCE = re.compile(r"^```(?P<language>\w*)(?P<rest>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str
    code: str
    line: int


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        title = re.search(r'title="([^"]+)"', match["rest"])
        line = text.count("\n", 0, match.start("code"))
        found.append(Block(match["language"], title[1] if title else "", match["code"], line))
    return found


class ExactLines(doctest.OutputChecker):
    """Lines must be the same, but for blank ones and blanks at their ends; three dots stand for anything."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(_tidy(want), _tidy(got), optionflags | doctest.ELLIPSIS)


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.replace("<BLANKLINE>", "").splitlines()]
    return "".join(f"{line}\n" for line in lines if line)


def parsed(block: Block, names: dict[str, Any], page: str) -> doctest.DocTest:
    """A doctest in which blank lines belong to the output above them."""
    code = re.sub(r"^$", "<BLANKLINE>", block.code.rstrip("\n"), flags=re.MULTILINE)
    return doctest.DocTestParser().get_doctest(f"{code}\n", names, page, page, block.line)


def run_python(text: str, page: str) -> str:
    """Run all Python blocks of a page in one namespace; what went wrong, in words."""
    names: dict[str, Any] = {"__name__": "example"}
    report = io.StringIO()
    runner = doctest.DocTestRunner(checker=ExactLines(), verbose=False)
    for block in blocks(text):
        if block.language == "pycon":
            test = parsed(block, names, page)
            runner.run(test, out=report.write, clear_globs=False)
            names = test.globs
    return report.getvalue()


@dataclass(frozen=True)
class Command:
    """A command of a console block, and what the page shows below it."""

    words: list[str]
    shown: str


def commands(block: Block) -> list[Command]:
    found = []
    for part in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
        line, _, shown = part.replace("\\\n", " ").partition("\n")
        found.append(Command(shlex.split(line), shown))
    return found


def run_console(text: str) -> list[str]:
    """Run all commands of a page in the current folder; what went wrong, in words."""
    problems: list[str] = []
    every = [command for block in blocks(text) if block.language == "console" for command in commands(block)]
    status = 0
    for place, command in enumerate(every):
        match command.words:
            case ["steelyard", *words]:
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                    status = main(words)
                output, asked = printed.getvalue(), every[place + 1 : place + 2]
                if status and not (asked and asked[0].words[:1] == ["echo"]):
                    problems.append(f"{shlex.join(command.words)} exits with {status}, which the page does not show")
            case ["echo", "$?"]:
                output = f"{status}\n"
            case ["cat", name]:
                output = Path(name).read_text(encoding="utf-8")
            case _:
                problems.append(f"{shlex.join(command.words)} cannot be run here")
                continue
        must_match = command.shown.strip() or command.words[0] != "steelyard"
        if must_match and not ExactLines().check_output(command.shown, output, 0):
            problems.append(f"{shlex.join(command.words)} prints\n{output}\nwhere the page shows\n{command.shown}")
    return problems


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the packaged data, and a list of measures that examples may add to."""
    for name in ("iris.csv", "meat.csv"):
        with resources.as_file(resources.files("steelyard") / "data" / "examples" / name) as file:
            shutil.copy(file, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    all_measures()
    measures, aliases = dict(registry.REGISTRY), dict(registry.ALIASES)
    yield tmp_path
    pyplot.close("all")
    registry.REGISTRY.clear()
    registry.REGISTRY.update(measures)
    registry.ALIASES.clear()
    registry.ALIASES.update(aliases)


def write_files(text: str, folder: Path) -> None:
    """Make the files that a page shows under their names."""
    for block in blocks(text):
        if block.title and block.language in ("csv", "json"):
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.code, encoding="utf-8")


# --- examples -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_examples_print_what_is_shown(name: str, folder: Path) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    write_files(text, folder)
    assert run_python(text, name) == ""
    assert run_console(text) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_block_is_of_a_kind_that_is_checked(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(blocks(text)), "a block that is indented or not closed would not be run"
    for block in blocks(text):
        where = f"{name}, line {block.line}"
        assert block.language in LANGUAGES, where
        assert block.language != "pycon" or block.code.startswith(">>> "), f"{where}: no doctest"
        assert block.language != "console" or block.code.startswith("$ "), f"{where}: no command"
        assert block.language != "sh" or not re.search(r"^steelyard ", block.code, re.MULTILINE), f"{where}: not run"


def test_there_are_examples() -> None:
    found = [(page, block) for page in PAGES for block in blocks(page.read_text(encoding="utf-8"))]
    for language in ("pycon", "console"):
        for page in (ROOT / "README.md", DOCS / "quickstart.md", DOCS / "input.md"):
            assert any(block.language == language for where, block in found if where == page), (page, language)


def test_a_wrong_example_is_noticed(folder: Path) -> None:
    right = "```pycon\n>>> print('a\\n\\nb')\na\n\nb\n\n>>> 1 + 1\n2\n```\n"
    assert run_python(right, "page") == ""
    assert "Expected" in run_python(right.replace("2\n", "3\n"), "page")
    assert "Expected" in run_python(right.replace("\nb\n", "\n b\n"), "page")
    assert "NameError" in run_python("```pycon\n>>> nothing\n```\n", "page")
    right = "```console\n$ steelyard measures nonsense\nerror: ...\n$ echo $?\n2\n```\n"
    assert run_console(right) == []
    assert run_console(right.replace("2\n", "1\n"))
    assert run_console(right.replace("error: ", "fine: "))
    assert run_console("```console\n$ steelyard measures nonsense\n```\n")
    assert run_console("```console\n$ rm iris.csv\n```\n")


# --- the site -------------------------------------------------------------------------------------------------


def nav() -> list[str]:
    """The pages of the site, in order."""
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].splitlines()
    entries = []
    for line in lines:
        if not line.startswith("  - "):
            break
        entries.append(line.rpartition(": ")[2].strip())
    return entries


def test_the_nav_and_the_pages_are_the_same() -> None:
    assert nav()
    assert sorted(nav()) == [page.name for page in sorted(DOCS.glob("*.md"))]


def anchors(text: str) -> set[str]:
    """Where a link can lead within a page: headings, under their own or their given name."""
    bare = FENCE.sub("", text)
    given = set(re.findall(r"^#+ .*\{ ?#([\w-]+) ?\}$", bare, re.MULTILINE))
    headings = [re.sub(r"[`*]|\{.*\}", "", heading) for heading in re.findall(r"^#+ (.*)$", bare, re.MULTILINE)]
    return given | {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", h).strip().lower()) for h in headings}


def broken_links(text: str, folder: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text)):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        page = folder / target
        there = page.exists() if target else True
        known = anchors(page.read_text(encoding="utf-8") if target else text) if there and anchor else {anchor}
        if not there or anchor not in known:
            broken.append(link)
    return broken


@pytest.mark.parametrize("name", NAMES)
def test_relative_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    assert broken_links(page.read_text(encoding="utf-8"), page.parent) == []


def test_a_broken_link_is_noticed() -> None:
    text = "# One two\n[a](README.md) [b](#one-two) [c](https://a.org/x) [d](nowhere.md) [e](README.md#no) [f](#no)"
    assert broken_links(text, ROOT) == ["nowhere.md", "README.md#no", "#no"]


def documented() -> dict[str, list[str]]:
    """The names on the page of the API, with the members that it shows."""
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    entry = re.compile(r"^::: steelyard\.(\w+)\n(?: +options:\n +members: \[(.*)\]\n)?", re.MULTILINE)
    return {name: [member for member in members.split(", ") if member] for name, members in entry.findall(text)}


def test_the_page_of_the_api_has_every_public_name() -> None:
    homes = {name: getattr(getattr(steelyard, name), "__module__", "") for name in dir(steelyard) if name[0] != "_"}
    assert set(documented()) == {name for name, home in homes.items() if home.startswith("steelyard")}
    for name, members in documented().items():
        assert [member for member in members if not hasattr(getattr(steelyard, name), member)] == []


# --- what is generated ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """docs/generate.py, which is no part of any package."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_not_stale(generate: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_a_stale_page_is_noticed(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("docs/measures.md", "docs/input.md", "docs/changelog.md", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(generate, "DOCS", tmp_path / "docs")
    assert generate.main(["--check"]) == 0
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n")
    for name in ("measures.md", "input.md"):
        page = tmp_path / "docs" / name
        page.write_text(page.read_text(encoding="utf-8").replace("UnknownLabel", "").replace("Cohen", ""))
    assert generate.main(["--check"]) == 1
    named = capsys.readouterr().out
    assert all(name in named for name in ("measures.md", "input.md", "changelog.md"))
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


# --- the papers' statements -----------------------------------------------------------------------------------

FIGURE = re.compile(r"-?(?:\d[\d,]*\.?\d*(?:e[-+]?\d+)?|∞)")
DEFAULT_SIZE = "knn"  # the study that make study remakes as it stands on the page; make test remakes all smaller
SMALL = {"mevik2003": "--repetitions", "meat": "--repeats", "partitions": "--seeds", "knn": "--splits"}


def tables(text: str) -> dict[str, list[list[str]]]:
    """The rows of each study on the page of the papers, cell by cell."""
    found = {}
    for part in text.split("\n## ")[2:]:
        study = re.search(r"\{ #(\w+) \}", part)
        assert study is not None
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in part.splitlines() if line.startswith("|")]
        found[study[1]] = [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in row] for row in rows[2:]]
    return found


def figures(cell: str) -> list[float]:
    return [float(figure.replace(",", "").replace("∞", "inf")) for figure in FIGURE.findall(cell)]


def same_estimate(one: str, other: str) -> bool:
    """Whether two estimates with their intervals agree to three digits, as far as other machines round alike."""
    ours, theirs = figures(one), figures(other)
    widest = max(map(abs, ours), default=0.0)
    return len(ours) == len(theirs) and all(
        here == there or abs(here - there) <= 0.005 * widest + 0.0005 for here, there in zip(ours, theirs, strict=True)
    )


def differing(page: list[list[str]], again: list[list[str]]) -> list[str]:
    """The statements whose figures or verdicts on the page are not those of another run."""
    assert [row[:2] for row in page] == [row[:2] for row in again]
    wrong = []
    for (statement, _, *one), (_, _, *other) in zip(page, again, strict=True):
        verdicts = [row[2].partition(" (")[0] for row in (one, other)]
        if not (verdicts[0] == verdicts[1] and all(map(same_estimate, one[:2], other[:2]))):
            wrong.append(statement)
    return wrong


def papers() -> dict[str, list[list[str]]]:
    return tables((DOCS / "papers.md").read_text(encoding="utf-8"))


def test_the_page_of_the_papers_has_all_studies(generate: ModuleType) -> None:
    assert list(papers()) == list(generate.STUDIES)
    assert set(generate.STUDIES) == {*SMALL}
    for rows in papers().values():
        assert {row[4].partition(" (")[0] for row in rows} <= {"holds", "does not hold", "not settled", "other data"}


@pytest.mark.slow
def test_verdicts_of_the_quick_study_are_those_of_another_run(generate: ModuleType) -> None:
    again = [generate.statement_cells(row) for row in generate.statements_of(DEFAULT_SIZE)]
    assert differing(papers()[DEFAULT_SIZE], again) == []


@pytest.mark.parametrize("study", SMALL)
def test_statements_of_small_studies_are_those_on_the_page(generate: ModuleType, study: str) -> None:
    """A small run has the same statements, and the same figures where chance has no part in them."""
    page, again = papers()[study], generate.statements_of(study, SMALL[study], "2")
    remade = [generate.statement_cells(row) for row in again]
    assert [row[:2] for row in page] == [row[:2] for row in remade]
    exact = [place for place, row in enumerate(again) if row["low"] == row["high"] and "[" not in page[place][3]]
    assert differing([page[place] for place in exact], [remade[place] for place in exact]) == []


def test_statements_that_do_not_hold_are_explained() -> None:
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert "no reason is known" not in text
    for study, rows in papers().items():
        part = text.split(f"{{ #{study} }}")[1].split("\n## ")[0]
        refuted = [row for row in rows if row[4] == "does not hold"]
        explained = part.partition("What does not hold:")[2].partition("Remarks:")[0]
        assert explained.count("\n- ") == len(refuted)


def test_a_wrong_figure_or_verdict_is_noticed() -> None:
    page = [["a", "1", "0.05", "0.050 [0.049, 0.051]", "holds"], ["b", "1", "", "2.000", "not settled (50)"]]
    near = ["a", "1", "0.05", "0.0501 [0.0491, 0.0511]", "holds"]
    assert differing(page, [near, [*page[1][:4], "not settled (60)"]]) == []
    assert differing(page, [["a", "1", "0.05", "0.054 [0.049, 0.059]", "holds"], page[1]]) == ["a"]
    assert differing(page, [[*page[0][:4], "does not hold"], page[1]]) == ["a"]
    assert differing(page, [["a", "1", "0.06", *page[0][3:]], page[1]]) == ["a"]
    assert differing(page, [page[0], [*page[1][:3], "2.100", page[1][4]]]) == ["b"]


def test_every_measure_and_every_error_is_told() -> None:
    measures = (DOCS / "measures.md").read_text(encoding="utf-8")
    for name, measure in all_measures().items():
        assert f"{{ #{name} }}" in measures
        assert all(f"`{alias}`" in measures for alias in measure.aliases)
    told = (DOCS / "input.md").read_text(encoding="utf-8")
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 20
    assert [kind.__name__ for kind in kinds if f"`{kind.__name__}`" not in told] == []


def test_every_mend_belongs_to_an_error(generate: ModuleType) -> None:
    assert set(generate.MENDS) == {kind.__name__ for kind in generate.error_classes()}
