"""Makes the pictures of the page that stand in the docs and in the README, with the system's own Chromium.

``python docs/screenshots.py`` writes docs/images/page.png and docs/images/page_phone.png.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, FloatRect, sync_playwright

import steelyard as sy

IMAGES = Path(__file__).resolve().parent / "images"
COST = {"ill": {"ill": 0, "well": 5}, "well": {"ill": 1, "well": 0}}
SCALE, MARGIN = 1.5, 1
COLOURS = 256  # enough for a page, and a third of the size


def comparison() -> sy.Comparison:
    """Two classifiers of made-up patients."""
    random = np.random.default_rng(1)
    ill = random.random(600) < 0.3
    shared = 0.6 * random.standard_normal(600)
    scores = {}
    for name, gap in (("logistic", 2.0), ("boosting", 1.3)):
        odds = gap * ill + shared + 0.8 * random.standard_normal(600) - 1.2
        scores[name] = 1 / (1 + np.exp(-odds))
    return sy.compare(np.where(ill, "ill", "well"), scores, event="ill", cost=COST)


def photograph(
    browser: Browser, page: Path, target: Path, width: int, parts: Sequence[tuple[str, str]], *, dark: bool = False
) -> None:
    """Parts of a page below each other, each from the top of one element to the foot of another."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", device_scale_factor=SCALE
    )
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready]")
    tab.wait_for_timeout(200)
    shots = []
    for first, last in parts:
        top = tab.locator(first).first.evaluate("node => node.getBoundingClientRect().top")
        foot = tab.locator(last).first.evaluate("node => node.getBoundingClientRect().bottom")
        clip: FloatRect = {"x": 0, "y": top, "width": width, "height": foot - top + MARGIN}
        shots.append(Image.open(io.BytesIO(tab.screenshot(full_page=True, clip=clip))).convert("RGB"))
    whole = Image.new("RGB", (shots[0].width, sum(each.height for each in shots)))
    for place, each in enumerate(shots):
        whole.paste(each, (0, sum(before.height for before in shots[:place])))
    whole.quantize(COLOURS, kmeans=2).save(target, optimize=True)
    context.close()


def main() -> int:
    """Write both pictures."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        print("Chromium is not installed", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder, "page.html")
        comparison().report(page)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        upper, lower = ("body", "#measures tbody tr:nth-child(5)"), ("#operating", "#operating figure")
        photograph(browser, page, IMAGES / "page.png", 1120, [upper, lower])
        upper, lower = ("body", "#verdict"), ("#operating", "#operating .card")
        photograph(browser, page, IMAGES / "page_phone.png", 390, [upper, lower], dark=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
