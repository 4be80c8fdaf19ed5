"""Draws the pictures of the gallery: runs the examples of its page, and saves what each has drawn.

``python docs/gallery.py`` writes all pictures anew. The page is its own source: a picture belongs to the block above.
"""

from __future__ import annotations

import doctest
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from shutil import copy
from typing import Any

PAGE = Path(__file__).resolve().parent / "gallery.md"
BLOCK = re.compile(r"```pycon\n(?P<code>.*?)```\n(?:\n!\[[^\]]+\]\((?P<picture>[^)]+)\))?", re.DOTALL)
DOTS = 80  # an inch: small enough for a page with many pictures


def examples(text: str) -> list[tuple[str, str | None]]:
    """The code of every block, and the picture that stands below it."""
    return [(found["code"], found["picture"]) for found in BLOCK.finditer(text)]


def drawn(text: str) -> Iterator[tuple[str, Any]]:
    """Run the blocks in order, and hand out each picture's name with its figure."""
    from matplotlib import pyplot

    names: dict[str, Any] = {}
    for code, picture in examples(text):
        for example in doctest.DocTestParser().get_examples(code):
            exec(example.source, names)  # noqa: S102  (our own page)
        if picture is not None:
            yield picture, pyplot.gcf()
            pyplot.close("all")


def main() -> int:
    """Draw everything."""
    import matplotlib

    matplotlib.use("Agg")
    home, page = Path.cwd(), PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("iris.csv", "meat.csv"):
            with resources.as_file(resources.files("steelyard") / "data" / "examples" / name) as file:
                copy(file, folder)
        os.chdir(folder)
        for picture, figure in drawn(page):
            target = PAGE.parent / picture
            target.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(target, dpi=DOTS, metadata={"Software": None})
            print(f"{picture}: {target.stat().st_size / 1024:.0f} KB")
        os.chdir(home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
