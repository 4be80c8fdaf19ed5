"""What was found, as tables that can be printed or written as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .contestants import OURS, Contestant
from .samples import Sample
from .timing import CLOSE, Call, Growth, Pace, Unfit, best_times

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Cell:
    """A piece of a table; ``behind`` where steelyard is slower, or not as much faster as is wanted."""

    text: str
    behind: bool = False


@dataclass
class Section:
    """A table under a heading.

    Attributes:
        title: The heading.
        text: What was measured.
        header: The names of the columns.
        rows: The cells below them.
        losses: Where steelyard falls behind, or short of what is wanted, in words.
    """

    title: str
    text: str
    header: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)

    def add(self, *cells: Cell | str) -> None:
        """Add a row."""
        self.rows.append([Cell(cell) if isinstance(cell, str) else cell for cell in cells])


@dataclass
class Contest:
    """Times of all contestants on one sample; reasons for those that did not take part."""

    times: dict[str, float]
    absent: dict[str, str]

    def own(self, name: str = OURS) -> str:
        """One of steelyard's own times."""
        return self.absent.get(name) or milliseconds(self.times[name])

    def against(self, name: str, section: Section, where: str, ours: str = OURS, wanted: float = 1.0) -> Cell:
        """A peer's time and its ratio to steelyard's; a ratio below the wanted one is noted as a loss."""
        if name in self.absent:
            return Cell(self.absent[name])
        factor = self.times[name] / self.times[ours]
        if factor < wanted:
            target = "" if wanted == 1 else f", {ratio(wanted)} is wanted"
            section.losses.append(f"{section.title}, {where}: {name} needs {ratio(factor)} the time{target}")
        return Cell(f"{milliseconds(self.times[name])} ({ratio(factor)})", behind=factor < wanted)

    def scaled(self, name: str, factor: float) -> Contest:
        """The same with the time of one of them scaled up, where it did only a part of the work."""
        times = {each: seconds * (factor if each == name else 1) for each, seconds in self.times.items()}
        return Contest(times, self.absent)


def hold(sample: Sample, contestants: Mapping[str, Contestant], pace: Pace, growth: Growth) -> Contest:
    """Measure everybody who can take part and is not expected to take too long."""
    calls: dict[str, Call] = {}
    absent: dict[str, str] = {}
    for name, contestant in contestants.items():
        try:
            if growth.in_doubt(name, sample.rows):
                smaller = replace(sample, rows=sample.rows // CLOSE)
                growth.note(smaller.rows, best_times({name: contestant(smaller)}, replace(pace, most=1)))
            growth.refuse_slow(name, sample.rows)
            calls[name] = contestant(sample)
        except Unfit as reason:
            absent[name] = str(reason)
    times = best_times(calls, pace)
    growth.note(sample.rows, times)
    return Contest(times, absent)


def milliseconds(seconds: float) -> str:
    """A time with three digits that mean something."""
    value = seconds * 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ratio(factor: float) -> str:
    """How many times as long."""
    return f"{factor:,.0f}×" if factor >= 10 else f"{factor:.2f}×"


def power(rows: int) -> str:
    """A power of ten as such: it is easier to read than its zeros."""
    zeros = len(str(rows)) - 1
    return "10" + str(zeros).translate(SUPERSCRIPTS) if rows == 10**zeros else f"{rows:,}"
