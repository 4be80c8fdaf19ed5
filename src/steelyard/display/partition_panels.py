"""Partition spaces ready to be drawn: the rows of every classifier as marks, or many of them as cells, with borders.

Up to four classes make one simplex. Of more classes, the triples that are confused most make a triangle each, the same
ones for all classifiers: the rows that belong or were assigned to one of the three, by their memberships in these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption, quoted
from ..core.table import Table
from ..core.text import number, with_interval
from ..core.threads import chunks, over_rows
from ..families.partition.space import Space
from ..maths.simplex import (
    MOST_CLASSES,
    assigned_borders,
    cell_codes,
    cells,
    cells_of,
    coordinates,
    edges,
    second_borders,
    seen,
)
from ..results.partition_spaces import correctness, space_of, table_of
from .continuum_strip import levels, table_of_arrays

if TYPE_CHECKING:
    from ..core.scale import Label
    from ..core.typing import Array, Codes, Places
    from ..results.assessment import Assessment

LINES = {"truth": "partition_accuracy", "assigned": "separation"}  # and the measures that these distances make
FORMER = {"accuracy": "truth", "separation": "assigned"}  # what they were called before
MOST_PANELS = 6  # of triples
MOST_CONFUSED = 40  # classes that triples are made of


class PanelRows(NamedTuple):
    """The rows of one panel.

    Attributes:
        model: The classifier.
        codes: The classes at the corners.
        memberships: Those in these classes, (rows, corners).
        truth: Codes of the true classes.
        assigned: Codes of the assigned ones.
        mass: What rows weigh.
        left_out: How many rows have no membership in any of these classes, and so no place.
    """

    model: str
    codes: tuple[int, ...]
    memberships: Array
    truth: Codes
    assigned: Codes
    mass: Array
    left_out: int = 0

    def places(self, codes: Codes) -> Places:
        """The corners of classes; one more stands for any other class."""
        if self.codes == tuple(range(len(self.codes))):
            return np.minimum(codes, len(self.codes))
        corner = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(np.array(self.codes)[corner] == codes, corner, len(self.codes))


def facts(title: str, value: float, low: float = np.nan, high: float = np.nan) -> str:
    """A measure in words and numbers, with its interval where there is one."""
    return f"{title} {number(value) if np.isnan(low + high) else with_interval(value, low, high)}"


# --- which classes, and their rows ---------------------------------------------------------------------------------


def pieces_of(spaces: Mapping[str, Space]) -> list[PanelRows]:
    """The rows of every panel, those of one classifier after the other."""
    classes = next(iter(spaces.values())).memberships.shape[1]
    if classes <= MOST_CLASSES:
        codes = tuple(range(classes))
        return [
            PanelRows(name, codes, each.scaled, each.truth, each.assigned, each.mass) for name, each in spaces.items()
        ]
    confusion = np.sum([table_of(each) for each in spaces.values()], axis=0)
    chosen = triples(confusion, max(1, MOST_PANELS // len(spaces)))
    return [_within(name, each, codes) for name, each in spaces.items() for codes in chosen]


def triples(confusion: Array, most: int) -> list[tuple[int, ...]]:
    """The triples of classes that are confused most: each the one that shows most of what those before it do not."""
    wrong = confusion + confusion.T
    np.fill_diagonal(wrong, 0.0)
    by_class = np.lexsort((-confusion.sum(axis=1), -wrong.sum(axis=1)))[:MOST_CONFUSED]
    candidates = np.array(list(combinations(sorted(by_class.tolist()), 3)))
    first, second, third = candidates.T
    # Where nothing is confused, the largest classes are shown.
    size = confusion.sum(axis=1)[candidates].sum(axis=1) / (confusion.sum() + 1) / 4
    found: list[tuple[int, ...]] = []
    while len(found) < most:
        shown = wrong[first, second] + wrong[first, third] + wrong[second, third]
        if found and not shown.max() > 0:
            break
        best = tuple(candidates[np.argmax(shown + size * (shown.max() <= 0))].tolist())
        found.append(best)
        wrong[np.ix_(best, best)] = 0.0
    return found


def _within(model: str, space: Space, codes: tuple[int, ...]) -> PanelRows:
    """The rows of some classes, by what their memberships in these are of their sum."""
    assigned, scaled = space.assigned, space.scaled[:, list(codes)]
    total = scaled.sum(axis=1)
    here = np.isin(space.truth, codes) | np.isin(assigned, codes)
    kept = here & (total > 0)
    left_out = int(here.sum() - kept.sum())
    inside = scaled[kept] / total[kept, None]
    return PanelRows(model, codes, inside, space.truth[kept], assigned[kept], space.mass[kept], left_out)


# --- panels -------------------------------------------------------------------------------------------------------

MOST_MARKS = 400  # in a panel
STEPS = {2: 60, 3: 36, 4: 14}  # cells along an edge
DOT, MOST_LEVELS = 0.02, 14  # of a segment: how wide a mark is, and how many go on top of each other
TALLEST, LOWEST = DOT * MOST_LEVELS, 0.006  # of a segment: bars
REACH = {3: 2 / (3 * STEPS[3]), 4: 0.5 / STEPS[4]}  # how far the hexagon of the most rows reaches
SMALLEST, PALEST = 0.3, 0.3  # of these: none is smaller or paler, so that a single row among a million is seen


@dataclass(frozen=True, eq=False)
class Panel:
    """One simplex: all that is drawn of it.

    Attributes:
        model: The classifier.
        classes: The classes at the corners.
        marks: One row a mark (truth, assigned and coordinates) or a cell (with rows, share, radius and opacity too, or
            for two classes from, to, foot and top). Of four classes, x, y and z lie in the tetrahedron, and across, up
            and depth are what is seen of it.
        corners: Where the classes are: label, x, y, and the rate of right ones among the rows assigned to it: value,
            low, high.
        borders: Lines of a kind ("edge", "hidden", "assigned", "second"): x, y, to_x, to_y.
        lines: From rows to a corner, with the class of that corner and how wide: label, width, x, y, to_x, to_y.
        left_out: How many rows have no membership in any of these classes, and so no place.
    """

    model: str
    classes: tuple[Label, ...]
    marks: Table
    corners: Table
    borders: Table
    lines: Table
    left_out: int = 0


@dataclass(frozen=True)
class PartitionPanels:
    """The partition spaces of one or more classifiers on the same rows.

    Attributes:
        classes: The classes of all.
        spaces: The rows of each classifier.
        rates: How often assignments to the classes are right.
        lines: Which corners lines go to: those of the "truth", of the "assigned" classes, or none.
    """

    classes: tuple[Label, ...]
    spaces: Mapping[str, Space] = field(repr=False)
    rates: Mapping[str, Table] = field(repr=False)
    lines: str | None = None

    @classmethod
    def of(
        cls, assessments: Mapping[str, Assessment], scaling: str = "default", depth: int = 1, lines: str | None = None
    ) -> PartitionPanels:
        """Take the rows out of assessments."""
        lines = FORMER.get(lines, lines) if isinstance(lines, str) else lines
        if lines is not None and lines not in LINES:
            raise BadOption(f"lines is {quoted(lines)}", mend=f"Say {' or '.join(map(repr, LINES))}, or leave it out")
        spaces = {name: space_of(each, scaling, depth) for name, each in assessments.items()}
        rates = {name: correctness(each, spaces[name]) for name, each in assessments.items()}
        return cls(next(iter(assessments.values())).classes, spaces, rates, lines)

    @property
    def corners(self) -> int:
        """How many corners a panel has."""
        return len(self.classes) if len(self.classes) <= MOST_CLASSES else 3

    @cached_property
    def pieces(self) -> list[PanelRows]:
        """The rows of every panel."""
        return pieces_of(self.spaces)

    def panels(self, by_row: bool = True) -> list[Panel]:
        """All that is drawn: one mark a row, where there are few and all weigh the same; else cells."""
        marks = (self._marks() if by_row else []) or self._cells()
        return [self._panel(piece, each) for piece, each in zip(self.pieces, marks, strict=True)]

    def _panel(self, piece: PanelRows, marks: Table) -> Panel:
        rates = self.rates[piece.model]
        places = drawn(np.eye(self.corners))
        columns: dict[str, Any] = {"label": self._labels(np.array(piece.codes)), "x": places[:, 0], "y": places[:, 1]}
        columns |= {name: np.array(rates[name])[list(piece.codes)] for name in ("value", "low", "high")}
        labels = tuple(columns["label"].tolist())
        return Panel(piece.model, labels, marks, table_of_arrays(columns), borders(len(labels)), self._lines(piece),
                     piece.left_out)  # fmt: skip

    def _labels(self, codes: Places) -> Any:
        return np.array([*self.classes, None], dtype=object)[:-1][codes]

    # --- one mark a row ----------------------------------------------------------------------------------------

    @property
    def _one_by_one(self) -> bool:
        """Whether there is a mark for every row."""
        few = all(len(piece.truth) <= MOST_MARKS for piece in self.pieces)
        return few and all(bool((piece.mass == 1).all()) for piece in self.pieces)

    def _marks(self) -> list[Table]:
        """One row a mark; nothing where it is too crowded."""
        if not self._one_by_one:
            return []
        found = []
        for piece in self.pieces:
            columns: dict[str, Any] = {"truth": self._labels(piece.truth), "assigned": self._labels(piece.assigned)}
            columns |= placed(piece.memberships)
            if self.corners == 2:
                columns["y"] = stacked_dots(columns["x"], piece.truth)
                if np.abs(columns["y"]).max(initial=0.0) > TALLEST:
                    return []
            found.append(table_of_arrays(columns))
        return found

    # --- many rows ---------------------------------------------------------------------------------------------

    def _cells(self) -> list[Table]:
        """One row a cell: its area is as the root of the number of rows, the same in all panels."""
        counts = [self._counts(piece) for piece in self.pieces]
        if self.corners == 2:
            most = max(float((each.sum(axis=2) / _bar(codes)[2]).max(initial=0.0)) for codes, each in counts) or 1.0
            return [self._bars(codes, each[:, :2, :2], most) for codes, each in counts]
        most = max(float(each.sum(axis=(1, 2)).max(initial=0.0)) for _, each in counts) or 1.0
        both = zip(self.pieces, counts, strict=True)
        return [self._cell_table(piece, codes, each, most) for piece, (codes, each) in both]

    def _counts(self, piece: PanelRows) -> tuple[Places, Array]:
        """The cells that have rows, and what those of every true and assigned class weigh there."""
        steps, size = STEPS[self.corners], self.corners + 1
        shape = (steps + 1) ** (self.corners - 1), size, size

        def count(start: int, stop: int) -> Array:
            found = np.zeros(shape)
            for low, high in chunks(start, stop, self.corners):
                code = cell_codes(cells(piece.memberships[low:high], steps), steps)
                truth, assigned = (piece.places(each[low:high]) for each in (piece.truth, piece.assigned))
                flat = (code * size + truth) * size + assigned
                found += np.bincount(flat, piece.mass[low:high], found.size).reshape(shape)
            return found

        counts = reduce(np.add, over_rows(len(piece.truth), count, self.corners))
        codes = np.flatnonzero(counts.any(axis=(1, 2)))
        return codes, counts[codes]

    def _cell_table(self, piece: PanelRows, codes: Places, counts: Array, most: float) -> Table:
        """Cells with the true and the assigned class that most of their rows have; None is a class not shown there."""
        labels = np.array([*self._labels(np.array(piece.codes)), None], dtype=object)
        rows, by_truth = counts.sum(axis=(1, 2)), counts.sum(axis=2)
        truth, assigned = by_truth.argmax(axis=1), counts.sum(axis=1).argmax(axis=1)
        share, even = by_truth.max(axis=1) / rows, 1 / len(self.classes)
        columns: dict[str, Any] = {"truth": labels[truth], "assigned": labels[assigned]}
        columns |= placed(cells_of(codes, STEPS[self.corners], self.corners))
        columns |= {"rows": rows, "share": share}
        columns["radius"] = REACH[self.corners] * np.maximum((rows / most) ** 0.25, SMALLEST)
        columns["opacity"] = PALEST + (1 - PALEST) * (share - even) / (1 - even)
        return table_of_arrays(columns)

    def _bars(self, codes: Places, counts: Array, most: float) -> Table:
        """Bars on a segment, upwards of the first class and downwards of the second, the rows assigned to it first."""
        start, stop, width = _bar(codes)
        dense = counts.sum(axis=2, keepdims=True) / width[:, None] / most
        height = np.maximum(np.sqrt(dense) * TALLEST, LOWEST)
        counts = np.stack([counts[:, 0], counts[:, 1, ::-1]], axis=1)
        total = counts.sum(axis=2, keepdims=True)
        top = np.cumsum(np.divide(counts, total, out=np.zeros_like(counts), where=total > 0), axis=2) * height
        place, truth, order = np.nonzero(counts)
        sign = 1 - 2 * truth
        foot = np.where(order == 0, 0.0, top[place, truth, 0])
        columns: dict[str, Any] = {
            "truth": self._labels(truth),
            "assigned": self._labels(np.where(truth == 0, order, 1 - order)),
            "from": start[place],
            "to": stop[place],
            "rows": counts[place, truth, order],
            "foot": sign * foot,
            "top": sign * top[place, truth, order],
        }
        return table_of_arrays(columns)

    # --- lines -------------------------------------------------------------------------------------------------

    def _lines(self, piece: PanelRows) -> Table:
        """From rows, or from cells of them, to the corners of their classes."""
        empty: Sequence[float] = []
        if self.lines is None or self.corners == 2:
            return Table(dict.fromkeys(("label", "width", "x", "y", "to_x", "to_y"), empty))
        to, size = piece.places(piece.truth if self.lines == "truth" else piece.assigned), self.corners + 1
        starts, width = piece.memberships, np.ones(len(to))
        if not self._one_by_one:
            steps = STEPS[self.corners] // 3  # more lines could not be told apart
            code = cell_codes(cells(piece.memberships, steps), steps) * size + to
            codes, place = np.unique(code, return_inverse=True)
            starts, to = cells_of(codes // size, steps, self.corners), codes % size
            rows = np.bincount(place, piece.mass)
            width = np.sqrt(rows / max(rows.max(initial=0.0), 1e-300))
        here = np.flatnonzero(to < self.corners)
        ends = np.stack([drawn(starts[here]), drawn(np.eye(self.corners)[to[here]])], axis=1)
        labels = self._labels(np.array(piece.codes)[to[here]])
        return table_of_arrays({"label": labels, "width": width[here], **_segments(ends)})


def _bar(codes: Places) -> tuple[Array, Array, Array]:
    """From where to where cells of a segment reach, and as a column how wide they are: those at its ends are halves."""
    middle, half = cells_of(codes, STEPS[2], 2)[:, 1], 0.5 / STEPS[2]
    start, stop = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    return start, stop, (stop - start)[:, None]


def placed(memberships: Array) -> dict[str, Array]:
    """The columns of coordinates."""
    places = coordinates(memberships)
    columns = dict(zip("xyz", places.T, strict=False))
    if memberships.shape[1] == MOST_CLASSES:
        columns |= dict(zip(("across", "up", "depth"), seen(places).T, strict=True))
    return columns


def drawn(memberships: Array) -> Array:
    """Where memberships lie on paper: (rows, 2)."""
    places = coordinates(memberships)
    if places.shape[1] == 1:
        return np.append(places, np.zeros_like(places), axis=1)
    return places if places.shape[1] == 2 else np.asarray(seen(places)[:, :2])


def stacked_dots(x: Array, truth: Codes) -> Array:
    """Heights of marks on a segment so that none touches another: above it of the first class, below of the second."""
    found = np.zeros(len(x))
    for code, sign in ((0, 1), (1, -1)):
        here = np.flatnonzero(truth == code)
        found[here] = sign * DOT * (levels(x[here], DOT, MOST_LEVELS) + 0.7)
    return found


def borders(classes: int) -> Table:
    """The edges of a simplex, and the borders in it. Of a tetrahedron, the edge behind all others is hidden."""
    kinds = {"edge": edges(classes), "assigned": assigned_borders(classes)}
    if classes > 2:
        kinds["second"] = second_borders(classes)
    names = [kind for kind, lines in kinds.items() for _ in lines]
    ends = np.concatenate([drawn(lines.reshape(-1, classes)).reshape(-1, 2, 2) for lines in kinds.values()])
    if classes == 2:
        ends[1] = [[0.5, -TALLEST], [0.5, TALLEST]]
    if classes == MOST_CLASSES:
        depth = seen(coordinates(edges(classes).mean(axis=1)))[:, 2]
        names[int(np.argmin(depth))] = "hidden"
    return table_of_arrays({"kind": np.array(names), **_segments(ends)})


def _segments(ends: Array) -> dict[str, Array]:
    """The columns of lines, from their ends (lines, 2, 2)."""
    return dict(zip(("x", "y", "to_x", "to_y"), ends.reshape(-1, 4).T, strict=True))
