"""The page: what it costs beside the assessment that it tells of, how large it is, and how soon it stands."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import steelyard

from .contestants import OURS, load
from .plans import Plan
from .results import Cell, Section, milliseconds, power, ratio
from .samples import Sample
from .timing import Call, Unfit, best_times

PAGE = "the page"
MOST, LARGEST, SLOWEST = 2.0, 500_000, 0.5  # times an assessment, bytes, seconds
MANY = 10**6
TURNS = 5
NAMES = ("chromium", "chromium-browser", "google-chrome")
TEXT = (
    'From arrays to `table()`, all measures with their intervals; and from arrays to `report("page.html")`, the page '
    f"with all of that on it. From a million rows on the page shall add less than {MOST:g} times what the assessment "
    f"takes, and never have more than {LARGEST // 1000} KB. The last column is from the call of a headless Chromium "
    f"that runs already to the last figure; less than {SLOWEST:g} s is wanted."
)
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"


def measure_page(plan: Plan, say: Callable[[str], None]) -> Section:
    """The page of a score, and of memberships of three classes."""
    section = Section("The page", TEXT, ["classes", "rows", OURS, PAGE, "added", "KB", "opened"])
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        for classes, rows in ((classes, rows) for classes in (2, 3) for rows in plan.page_rows):
            where = f"{classes} classes, {power(rows)} rows"
            say(f"{section.title}: {where}")
            file, assessed = Path(folder, "page.html"), partial(assess, Sample(rows, classes))
            calls: dict[str, Call] = {OURS: partial(_table, assessed), PAGE: partial(_report, assessed, file)}
            times = best_times(calls, plan.pace)
            size, seconds = file.stat().st_size, opened(file)
            cells = [
                _held(section, where, times[PAGE] / times[OURS] - 1, MOST if rows >= MANY else None, ratio, "the time"),
                _held(section, where, size, LARGEST, lambda found: f"{found / 1000:.0f}", "bytes"),
                Cell("no browser") if seconds is None else
                _held(section, where, seconds, SLOWEST, milliseconds, "seconds to open"),
            ]  # fmt: skip
            section.add(str(classes), power(rows), milliseconds(times[OURS]), milliseconds(times[PAGE]), *cells)
    return section


def assess(sample: Sample) -> Any:
    """Everything about one classifier, nothing of it computed yet."""
    if sample.classes == 2:
        return steelyard.assess(sample.truth, sample.score, event=1)
    return steelyard.assess(sample.truth, sample.memberships)


def _table(assessed: Callable[[], Any]) -> object:
    return assessed().table()


def _report(assessed: Callable[[], Any], file: Path) -> None:
    assessed().report(file)


def _held(
    section: Section, where: str, found: float, most: float | None, shown: Callable[[float], str], what: str
) -> Cell:
    """A number that shall not be above another."""
    behind = most is not None and found > most
    if behind:
        section.losses.append(f"{section.title}, {where}: {shown(found)} {what}, at most {shown(most or 0)} is wanted")
    return Cell(shown(found), behind)


@contextmanager
def browser() -> Iterator[Callable[[Path], float | None]]:
    """How long a page takes to stand in a browser that runs already; None where there is no browser."""
    program = next((found for found in map(shutil.which, NAMES) if found), None)
    try:
        api = load("playwright.sync_api")
    except Unfit:
        program = None
    if program is None:
        yield lambda file: None
        return
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])

        def opened(file: Path) -> float:
            return min(_opened(running, file) for _ in range(TURNS))

        yield opened
        running.close()


def _opened(running: Any, file: Path) -> float:
    """Seconds until the frame after all figures were drawn, by the browser's own clock."""
    page = running.new_page()
    page.goto(file.resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    spent = page.evaluate(DRAWN)
    page.close()
    return float(spent) / 1000
