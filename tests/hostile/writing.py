"""Commands that write a file of each kind from either of two inputs, again and again until somebody ends them."""

from __future__ import annotations

from pathlib import Path

OUTPUTS = ("table.csv", "result.json", "result.md", "page.html", "rows.tally")
INPUTS = ("first.csv", "second.csv")


def inputs(folder: Path) -> None:
    """Two inputs of which all results differ, also in length."""
    for name, rows in zip(INPUTS, (40, 90), strict=True):
        lines = [f"{'yes' if row % 3 else 'no'},{'yes' if row % 4 else 'no'}\n" for row in range(rows)]
        (folder / name).write_text("ill,model\n" + "".join(lines))


def words(folder: Path, source: str, output: str) -> list[str]:
    """The command that writes one output."""
    target = folder / output
    read = [str(folder / source), "--truth", "ill", "--assigned", "model", "--event", "yes", "--quiet"]
    if target.suffix == ".tally":
        return ["tally", *read, "--out", str(target)]
    option = {".csv": "--csv", ".json": "--json", ".md": "--markdown", ".html": "--html"}[target.suffix]
    return ["assess", *read, f"{option}={target}"]


def write_for_ever(folder: Path, output: str) -> None:
    """Write the results of one input over those of the other, again and again."""
    from steelyard.cli import main

    while True:
        for source in INPUTS:
            main(words(folder, source, output))
