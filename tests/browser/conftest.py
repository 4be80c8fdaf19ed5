"""A browser for all tests, and pages that report whatever they should not have done."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.effort import FULL, leave_out, left_out

from .samples import ODD, SAMPLES

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

Open = Callable[..., Page]

expect.set_options(timeout=30_000)  # milliseconds: busy machines are slow, not wrong


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of tests with many variants, `make test` runs a third; `make study` runs the others."""
    names = left_out(items, Path(__file__).parent, step=3)
    if not FULL:
        leave_out(config, items, names)
    for item in items:
        if item.nodeid in names:
            item.add_marker("study")


def program() -> str | None:
    """The system's own browser."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = program()
    if found is None:
        pytest.skip("NO BROWSER: the page was not tested. Install Chromium (Debian: apt install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def opened(browser: Browser, folder: Path) -> Iterator[Open]:
    """Opens the page of a sample; at the end, no page may have said, asked for or done anything else."""
    contexts, faults = [], []

    def open_page(name: str, *, width: int = 1280, dark: bool = False) -> Page:
        file = folder / f"{name}.html"
        if not file.exists():
            (SAMPLES | ODD)[name]().report(file)
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light", accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        address = file.as_uri()
        page.on("console", lambda message: faults.append(f"{name} said {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"{name} failed with {error}"))
        page.on("dialog", lambda dialog: faults.append(f"{name} asked {dialog.message}"))
        page.on("request", lambda request: _note(faults, name, request.url, address))
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def _note(faults: list[str], name: str, wanted: str, own: str) -> None:
    """A page asks for itself; for its own empty icon; and for what it hands to the user. For nothing else."""
    if wanted != own and not wanted.startswith(("data:,", "blob:")):
        faults.append(f"{name} asked for {wanted}")
