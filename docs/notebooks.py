"""Runs the example notebooks and stores what their cells show, as a notebook would, without needing one.

``python docs/notebooks.py`` writes stale outputs anew. Text and HTML are compared; pictures are only drawn, because
their bytes differ from one matplotlib to the next.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent / "examples"
DOTS = 70

Cell = dict[str, Any]


def notebooks() -> list[Path]:
    """All notebooks."""
    return sorted(EXAMPLES.glob("*.ipynb"))


def lines(text: str) -> list[str]:
    """Text as notebooks store it."""
    return text.splitlines(keepends=True)


def outputs(source: str, names: dict[str, Any], count: int) -> list[Cell]:
    """Run a cell, and return what it prints, what its last line is, and what it draws."""
    body = ast.parse(source).body
    printed, value, last = io.StringIO(), None, body[-1]
    with contextlib.redirect_stdout(printed):
        before = body[:-1] if isinstance(last, ast.Expr) else body
        exec(compile(ast.Module(before, []), "<cell>", "exec"), names)  # noqa: S102  (our own notebook)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    found: list[Cell] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        shown = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            shown["text/html"] = lines(value._repr_html_())
        found.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": shown})
    return [*found, *pictures()]


def pictures() -> list[Cell]:
    """The figures that were drawn."""
    from matplotlib import pyplot

    found = []
    for number in pyplot.get_fignums():
        drawn = io.BytesIO()
        pyplot.figure(number).savefig(drawn, dpi=DOTS, metadata={"Software": None})
        data = {"image/png": base64.b64encode(drawn.getvalue()).decode()}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    pyplot.close("all")
    return found


def executed(notebook: Cell) -> Cell:
    """The same notebook with what its cells show now."""
    from matplotlib import pyplot

    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    pyplot.close("all")  # figures that somebody else left open belong to no cell
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            shown = outputs("".join(cell["source"]), names, count)
            cells.append({**cell, "execution_count": count, "outputs": shown})
        else:
            cells.append(cell)
    return {**notebook, "cells": cells}


def texts(notebook: Cell) -> list[Any]:
    """What a notebook shows in words; of pictures, only that they are there."""
    found = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = {kind: text for kind, text in output.get("data", {}).items() if kind != "image/png"}
            found.append((output["output_type"], output.get("text"), data))
    return found


def read(path: Path) -> Cell:
    """A notebook from its file."""
    found: Cell = json.loads(path.read_text(encoding="utf-8"))
    return found


def main() -> int:
    """Run all notebooks, and write those that are stale."""
    import matplotlib

    matplotlib.use("Agg")
    for path in notebooks():
        stored = read(path)
        now = executed(stored)
        if texts(now) != texts(stored):
            path.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
