"""What pages of coverage have in common: tables of the lowest and highest, tables of everything, and the command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from tests.coverage.simulation import rewrite, with_section

Key = tuple[str, str]  # what was covered, and of which measure
VALUE, PLAIN, EQUAL, APART = "value", "plain", "equal", "apart"
KINDS = {VALUE: "values", PLAIN: "values, plain", EQUAL: "pairs, equal", APART: "pairs, apart"}


class Covered(Protocol):
    """How often intervals held the truth."""

    def shares(self) -> Sequence[float]:
        """Covered, below, above and mean width, in per cent."""


Found = Mapping[Key, Covered]
Findings = Sequence[tuple[Any, Found]]


def on_all_cores(
    coverage: Callable[[Any, int, int], Any], jobs: Sequence[Any], repetitions: int, seed: int, workers: int | None
) -> list[tuple[Any, Any]]:
    """The coverage in every population, each with a seed of its own."""
    with ProcessPoolExecutor(workers) as pool:
        found = [pool.submit(coverage, job, repetitions, seed + place) for place, job in enumerate(jobs)]
        return [(job, future.result()) for job, future in zip(jobs, found, strict=True)]


def summary(findings: Findings, measures: Sequence[str], columns: Mapping[str, Callable[[Any], bool]]) -> Iterator[str]:
    """The lowest and the highest coverage of every measure, among the populations of each column."""
    yield f"| measure | of | {' | '.join(columns)} |"
    yield f"|---|---|{'---:|' * len(columns)}"
    for measure in measures:
        for kind, name in KINDS.items():
            if (kind, measure) not in findings[0][1]:
                continue
            cells = []
            for holds in columns.values():
                shares = [found[kind, measure].shares()[0] for population, found in findings if holds(population)]
                cells.append(f"{min(shares):.1f} to {max(shares):.1f}" if shares else "-")
            yield f"| `{measure}` | {name} | {' | '.join(cells)} |"


def details(
    findings: Findings, measure: str, shown: Mapping[str, str], named: Mapping[str, Callable[[Any], object]]
) -> Iterator[str]:
    """One population a row, with all shares of some kinds of intervals."""
    heads = [head for covered in shown.values() for head in (covered, "below", "above", "width")]
    yield f"| {' | '.join([*named, *heads])} |"
    yield f"|{'---|' * len(named)}{'---:|' * len(heads)}"
    for population, found in findings:
        cells = [f"{share:.1f}" for kind in shown for share in found[kind, measure].shares()]
        yield f"| {' | '.join([*[str(name(population)) for name in named.values()], *cells])} |"


def everything(
    findings: Findings, measures: Sequence[str], named: Mapping[str, Callable[[Any], object]]
) -> Iterator[str]:
    """The tables of all measures, values and pairs."""
    for measure in measures:
        if (VALUE, measure) in findings[0][1]:
            yield f"\n### Values of `{measure}`\n"
            yield from details(findings, measure, {VALUE: "covered", PLAIN: "plain"}, named)
        if (EQUAL, measure) in findings[0][1]:
            yield f"\n### Paired differences of `{measure}`\n"
            yield from details(findings, measure, {EQUAL: "equal", APART: "apart"}, named)


def command(
    name: str,
    study: Callable[[int, int | None], Findings],
    section: Callable[[Any, int], str],
    repetitions: int,
    bounds: tuple[float, float] = (93.0, 97.0),
) -> None:
    """Print what leaves the bounds, or write everything as a section of a page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=repetitions)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    findings = study(arguments.repetitions, arguments.workers)
    if arguments.markdown:
        rewrite(arguments.markdown, lambda old: with_section(old, name, section(findings, arguments.repetitions)))
    for population, found in findings:
        print(population)
        for (kind, measure), cover in found.items():
            covered, below, above, width = cover.shares()
            if kind != PLAIN and not bounds[0] <= covered <= bounds[1]:
                misses = f"below {below:.1f}, above {above:.1f}, width {width:.2f}"
                print(f"  {covered:.1f} ({misses}) {measure}, {KINDS[kind]}")
