"""Counts: values, slopes and spread of a table of true by assigned classes, for all its measures at once.

The influence of a row on a slot is the gradient of the formula at the sums of the table. A row adds to the diagonal, to
one row sum and to one column sum, so that an influence is three vectors over the classes and a number.

The pseudo-rows are two more rows spread over the cells of the table, one of them right and one wrong, any class as
likely as the others. That keeps intervals honest where a cell is empty (an all-right table says little about errors,
but not that there are none) and brings their coverage close to nominal in small samples. On a table of two by two it is
the half row a cell of Haldane (1956) and Anscombe (1956), on matched pairs the method of Agresti & Min (2005). For a
measure of one class, the two rows are spread over the 2x2 table of that class; for all others over the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..core.cached import cached_property
from ..core.scale import Scale
from ..core.threads import SMALL_PRODUCT, chunks
from ..inference.averages import MEANS_OF_CLASSES, Average
from ..inference.design import NO_ERROR, lone_classes, row_mass, variances_of, weighted_sums
from ..inference.evaluation import PSEUDO_ROWS, Evaluation, Slot, Spread, key_of
from ..inference.rules import rules_in
from ..inference.rules.mean import MEAN
from ..maths.sides import one_less, summed_at
from ..measures.registry import AVERAGES, Measure
from ..measures.table_formulas import FEW_CLASSES, Formulas
from ..states.statistics import MOST_LAID_OUT, Distances, Margins, Patterns

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Places

MEANS = np.array(MEANS_OF_CLASSES).reshape(2, 1, 1, 1)  # macro and weighted
DENSE = 4  # patterns a class from which on the whole table is cheaper than its patterns
MOST_NUMBERS = 1 << 24  # held at once when influences are laid out pattern by pattern


@dataclass(frozen=True)
class Counts(Evaluation):
    """All slots of one classifier that are made of counts."""

    of_patterns: ClassVar[bool] = True

    patterns: Patterns
    model: int
    scale: Scale
    formulas: Formulas
    undefined: float
    unit: float

    @property
    def measures(self) -> tuple[Measure, ...]:  # type: ignore[override]  # nobody sets it
        """What is computed."""
        return self.formulas.measures

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return self.patterns.cluster is not None

    @property
    def total(self) -> float:
        """What all rows weigh."""
        return float(self.patterns.mass.sum())

    @cached_property
    def margins(self) -> Margins:
        """The table's sums."""
        return self.patterns.margins(self.model)

    @cached_property
    def _squared(self) -> Patterns:
        """The patterns with squared weights; the same ones where no weight differs from its square."""
        patterns = self.patterns
        return patterns if patterns.square is patterns.mass else replace(patterns, mass=patterns.square)

    @cached_property
    def matrices(self) -> dict[str, Array]:
        """The penalty matrices of the measures that have one."""
        if not (priced := self.formulas.priced):
            return {}
        return {each.label: matrix for each in priced if (matrix := each.matrix(self.scale)) is not None}

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """Return the classes for which a measure has no value."""
        for place, code in np.argwhere(np.isnan(self._at_classes[0][:, 0])).tolist():
            yield self.formulas.by_class[place].label, code

    # --- values, always twice: as they are, and with the pseudo-rows ------------------------------------------------

    @cached_property
    def _with_pseudo(self) -> Margins:
        """The table's sums, the pseudo-rows spread over all of the table: (2, classes)."""
        classes, margins = self.patterns.classes, self.margins
        share = np.array([[0.0], [self.unit * PSEUDO_ROWS / classes]])
        right = classes * pseudo_shares(classes)[0]
        return Margins(margins.correct + right * share, margins.true + share, margins.assigned + share)

    @cached_property
    def _penalties(self) -> dict[str, Any]:
        """The penalty matrices summed over the table; spread over all cells, pseudo-rows bear their part of each."""
        extra = np.array([0.0, self.unit * PSEUDO_ROWS])
        return {
            label: self.patterns.penalty(self.model, matrix) + extra * pseudo_mean(matrix)
            for label, matrix in self.matrices.items()
        }

    @cached_property
    def _at_classes(self) -> tuple[Array, Array, Array, Array, Array]:
        """Values and slopes of measures at the 2x2 tables of the classes, and at the sums of these tables.

        The tables stand end to end, so that each formula is called once: those of the classes as they are, with the
        pseudo-rows spread over each of them, and with the pseudo-rows spread over the one table behind them; then the
        sums of the first and the last of these, for micro averages.

        Returns:
            Values (measures, 3, classes); slopes by the cells (4, measures, 3, classes); values at the sums (measures,
            2), slopes there (4, measures, 2); and what the ratios among the measures are divided by (ratios, classes).
        """
        classes, cells = self.patterns.classes, self.margins.against_rest()
        tables = np.empty((4, 3 * classes + 2))
        by_class = tables[:, :-2].reshape(4, 3, classes)
        by_class[:, 0] = cells
        np.add(cells[:, None], self.unit * _pseudo_cells(classes), out=by_class[:, 1:])
        np.add.reduce(by_class[:, ::2], axis=-1, out=tables[:, -2:])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values, below, slopes = self.formulas.sloping_at_classes(tables)
        own, own_slopes = values[:, :-2].reshape(-1, 3, classes), slopes[..., :-2].reshape(4, -1, 3, classes)
        return own, own_slopes, values[:, -2:], slopes[..., -2:], below[:, :classes]

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        own, _, pooled, _, _ = self._at_classes
        single, whole = len(self.formulas.single), np.empty((len(self.formulas.whole), 2))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            measures, places = self._on_table
            if measures:
                found = self.formulas.at_table(measures, self._with_pseudo, self._penalties, self.matrices)
                whole[places] = np.array(found)
            if self.patterns.classes == 2:
                whole[self.formulas.unpriced_places] = own[single:, ::2, 0]
            means = self._averages.mean if single else np.empty((2, 0, 2))
            return self._join(own[:, :2], means, pooled[:single], whole)

    @cached_property
    def _on_table(self) -> tuple[tuple[Measure, ...], Any]:
        """The measures that have to be evaluated on the whole table, and where they are among those of it.

        A table of two classes is that of the first class against the rest: most are known from there.
        """
        formulas = self.formulas
        two = self.patterns.classes == 2
        return (formulas.priced, formulas.priced_places) if two else (formulas.whole, slice(None))

    @cached_property
    def _averages(self) -> Average:
        """Macro and weighted averages, (2, measures, 2), as they are and with the pseudo-rows."""
        values = self._at_classes[0][: len(self.formulas.single), ::2]
        return Average.of_both(MEANS, values, self._with_pseudo.true, self.undefined)

    def _join(self, by_class: Array, means: Array, pooled: Array, whole: Array) -> Array:
        """Lay all slots out in order; measures come first in each part, slots last in the result."""
        leading, axes, start = by_class.shape[1:-1], range(1, by_class.ndim - 1), self.layout.class_slots
        stop = start + len(self.formulas.single) * len(AVERAGES)
        values = np.empty((*leading, stop + len(self.formulas.whole)))
        by_measure = values[..., :start].reshape(*leading, -1, self.patterns.classes)
        by_measure[:] = by_class.transpose(*axes, 0, by_class.ndim - 1)
        averages = values[..., start:stop].reshape(*leading, -1, len(AVERAGES))
        averages[..., :2] = means.transpose(*range(2, means.ndim), 1, 0)
        averages[..., 2] = pooled.transpose(*axes, 0)
        values[..., stop:] = whole.reshape(-1, *leading).transpose(*axes, 0)
        if not np.isnan(self.undefined):
            values[np.isnan(values)] = self.undefined
        return values

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """Return the values of slots where patterns weigh something else, (replicates, patterns), for the bootstrap."""
        picks, penalties = self._picks
        margins = Margins(*[np.asarray((pick @ mass.T).T) for pick in picks])
        cells, single = margins.against_rest(), len(self.formulas.single)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_class, pooled = map(self.formulas.at_classes, (cells, cells.sum(axis=-1)))
            means = Average.of(MEANS, by_class[:single], margins.true, self.undefined).mean
            priced = {label: mass @ penalty for label, penalty in penalties.items()}
            whole = self.formulas.at_table(self.formulas.whole, margins, priced, self.matrices)
            values = self._join(by_class, means, pooled[:single], np.array(whole))
        return values[:, [self.places[key_of(slot)] for slot in slots]]

    @cached_property
    def _picks(self) -> tuple[list[Any], dict[str, Array]]:
        """What sums over patterns are products with: the right ones, true and assigned classes; and the penalties."""
        from scipy.sparse import csr_array

        truth, assigned = self.patterns.truth, self.patterns.assigned[self.model]
        every, shape = np.arange(len(truth)), (self.patterns.classes, len(truth))
        ones, right = np.ones(len(truth)), (truth == assigned).astype(float)
        places = ((right, truth), (ones, truth), (ones, assigned))
        picks = [csr_array((values, (codes, every)), shape=shape) for values, codes in places]
        return picks, {label: matrix[truth, assigned] for label, matrix in self.matrices.items()}

    # --- slopes -----------------------------------------------------------------------------------------------------

    @property
    def class_slopes(self) -> Array:
        """Slopes of the class slots by the cells of the class's table: (4, measures, 2, classes)."""
        return self._at_classes[1][:, :, :2]

    @cached_property
    def influence(self) -> Influence:
        """Influences on the slots behind the class slots, at the sums as they are and then with the pseudo-rows."""
        classes, single = self.patterns.classes, len(self.formulas.single)
        averages, (measures, places) = single * len(AVERAGES), self._on_table
        slots = averages + len(self.formulas.whole)
        slopes, penalty = np.zeros((4, 2, slots, classes)), np.zeros((2, slots))
        priced: dict[int, Array | Distances] = {}
        whole = slopes[:, :, averages:]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            own = _by_sum(self._at_classes[1])
            if single:
                out = slopes[:, :, :averages].reshape(4, 2, -1, len(AVERAGES), classes)
                self._average(own[:, :single, ::2], _by_sum(self._at_classes[3][:, :single]), out)
            if measures:
                at_table = (self._with_pseudo, self._penalties, self.matrices)
                by_margin = self.formulas.slopes_at_table(measures, *at_table)
                whole[1:, :, places] = by_margin[:, :-1].reshape(-1, 3, classes, 2).transpose(1, 3, 0, 2)
                penalty[:, averages:][:, places] = by_margin[:, -1].T
                for place, matrix in zip(self.formulas.priced_places.tolist(), self.matrices.values(), strict=True):
                    priced[averages + place] = priced[averages + place + slots] = matrix
        if classes == 2:
            whole[:, :, self.formulas.unpriced_places, 0] = own[:, single:, ::2, 0].swapaxes(1, 2)
        base, row, column, diagonal = slopes.reshape(4, -1, classes)
        return Influence(base.sum(axis=-1), row, column, diagonal, penalty.ravel(), priced)

    def _average(self, own: Array, pooled: Array, out: Array) -> None:
        """Write down the slopes of macro, weighted and micro averages: (4, 2, measures, 3, classes).

        A row adds to one cell of every class's table, which is written as base, row, column and diagonal; to micro
        averages all classes add the same.
        """
        averages, known = self._averages, ~np.isnan(self._at_classes[0][: own.shape[1], :1])
        own = np.where(known, own, 0.0)
        out[..., :2, :] = (own[:, None] * averages.share).transpose(0, 3, 2, 1, 4)
        # The weighted average also moves with the rows of each class.
        out[1, ..., :2, :] += averages.gaps.transpose(2, 1, 0, 3)
        out[..., 2, :] = pooled.swapaxes(1, 2)[..., None]

    # --- spread -----------------------------------------------------------------------------------------------------

    @cached_property
    def spread(self) -> tuple[Spread, Array, Array]:
        """Standard errors, degrees of freedom, and how many independent trials are behind each slot."""
        with np.errstate(invalid="ignore", over="ignore"):
            plain, smooth = np.sqrt(np.concatenate([self._class_variances(), self._table_variances()], axis=1))
            # Where there is no value there is no error of it either; what rounding makes of 0 is 0.
            plain[plain < NO_ERROR] = 0.0
            plain[~np.isfinite(self.values[0] + plain)] = np.nan
        trials = np.full(len(plain), self.margins.true.sum())
        trials[: self.layout.class_slots].reshape(-1, self.patterns.classes)[self.formulas.ratios] = self._at_classes[4]
        return Spread(plain, smooth), self.freedom_at(range(len(plain))), trials / self.unit

    def _class_variances(self) -> Array:
        """Variances of the class slots, (2, slots), the pseudo-rows over the table of each class among the rows."""
        patterns, slopes = self.patterns, self.class_slopes
        squares, pseudo = np.square(slopes), PSEUDO_ROWS * self.unit**2 / 4
        if patterns.cluster is None:
            squared = self._squared
            cells = (self.margins if squared is patterns else squared.margins(self.model)).against_rest()
            weights = np.array([cells, cells + pseudo]).swapaxes(0, 1)[:, None]
            return np.asarray(np.add.reduce(squares * weights).swapaxes(0, 1).reshape(2, -1))
        variances = np.zeros(slopes.shape[1:])
        for code in range(patterns.classes if slopes.size else 0):  # no slots where no measure is of one class
            # Cells in the order tp, fn, fp, tn: true and assigned, true only, assigned only, neither.
            cell = 2 * (patterns.truth != code) + (patterns.assigned[self.model] != code)
            places = 4 * patterns.cluster + cell
            counts = summed_at(places, (patterns.mass,), 4 * patterns.clusters).reshape(-1, 4)
            for low, high in chunks(0, len(counts), slopes[..., code].size):
                sums = np.einsum("kc,cij->kij", counts[low:high], slopes[..., code])
                variances[..., code] += np.square(sums).sum(axis=0)
        variances *= one_less(patterns.clusters)
        for lone in lone_classes(patterns).tolist():
            variances += self.unit / row_mass(patterns) * self._within_cells(lone)
        variances[:, 1] += pseudo * np.add.reduce(squares[:, :, 1])
        return variances.swapaxes(0, 1).reshape(2, -1)

    def _within_cells(self, lone: int) -> Array:
        """How far the rows of a class scatter around their mean by the class slopes, (measures, 2, classes)."""
        patterns, slopes = self.patterns, self.class_slopes
        own = patterns.truth == lone
        assigned, found = patterns.assigned[self.model][own], np.zeros(slopes.shape[1:])
        for code in range(patterns.classes):
            cell = 2 * (lone != code) + (assigned != code)
            mass, square = summed_at(cell, (patterns.mass[own], patterns.square[own]), 4)
            mean = np.einsum("c,cij->ij", mass, slopes[..., code]) / mass.sum()
            found[..., code] = np.einsum("c,cij->ij", square, np.square(slopes[..., code] - mean))
        return found

    def _table_variances(self) -> Array:
        """Variances of the slots behind the class slots, (2, slots), the pseudo-rows over the table among the rows."""
        patterns, influence = self.patterns, self.influence
        pseudo, squares = PSEUDO_ROWS * self.unit**2, self._squared
        if patterns.cluster is None and patterns.classes <= FEW_CLASSES:
            table = squares.table(self.model)
            weights = np.array([table, table + pseudo * pseudo_table(patterns.classes)]).reshape(2, -1, 1)
            return np.asarray((np.square(influence.tables).reshape(2, -1, table.size) @ weights)[..., 0])
        dense = DENSE * patterns.classes < len(patterns.truth) and patterns.classes <= MOST_LAID_OUT
        if patterns.cluster is None and dense:
            variances = influence.variances_over(squares.table(self.model)).reshape(2, -1)
        else:
            # Pattern by pattern, or cluster by cluster, a few slots at a time.
            step = max(1, MOST_NUMBERS // max(len(patterns.truth), 1))
            pieces = [influence[low : low + step] for low in range(0, len(influence.base), step)]
            found = [self.variances((), piece.at(patterns.truth, self._assigned), True) for piece in pieces]
            variances = np.concatenate(found).reshape(2, -1)
        variances[1] += pseudo * influence.pseudo_squares(first=variances.shape[1])
        return variances

    def correct_bounds(self, value: Array, low: Array, high: Array, plain: bool) -> None:
        """No mean lies beyond the least and the greatest cost, and what stands in for a value has no interval."""
        del value
        rules = rules_in(self.layout)[0]
        for label, matrix in {} if plain else self.matrices.items():
            place = self.layout.spans[label][0][0]
            if rules[place] is MEAN:
                low[place], high[place] = max(low[place], matrix.min()), min(high[place], matrix.max())
        if not np.isnan(self.undefined):
            unknown = np.isnan(replace(self, undefined=float("nan")).values[0])
            low[unknown], high[unknown] = np.nan, np.nan

    # --- chosen slots -----------------------------------------------------------------------------------------------

    def values_at(self, places: Sequence[int]) -> Array:
        """Return the values of chosen slots, as they are and with the pseudo-rows: (2, slots)."""
        return self.values[:, places]

    def influences_at(self, places: Sequence[int], smooth: bool) -> Array:
        """Return what a row of each pattern adds, (slots, patterns); not finite where a value is infinite."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.empty((len(places), len(self.patterns.truth)))
            for k, place in enumerate(places):
                found[k] = self.influence_at(place, self.patterns.truth, self._assigned, smooth)
            return found

    def influence_at(self, place: int, truth: Codes, assigned: Codes, smooth: bool = False) -> Array:
        """Return what a row with these classes adds to one slot."""
        if place < self.layout.class_slots:
            measure, code = divmod(place, self.patterns.classes)
            cell = 2 * (truth != code) + (assigned != code)
            return np.asarray(self.class_slopes[:, measure, int(smooth), code][cell])
        return np.asarray(self._influence_on(place, smooth).at(truth, assigned)[0])

    def _influence_on(self, place: int, smooth: bool) -> Influence:
        """The influence on one slot behind the class slots."""
        half = len(self.influence.base) // 2
        slot = place - self.layout.class_slots + half * smooth
        return self.influence[slot : slot + 1]

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """Return the variance of influences, (slots, patterns): one number a slot."""
        del places, smooth
        return variances_of(self.patterns, influences, self.unit)

    def freedom_at(self, places: Sequence[int]) -> Array:
        """Return infinite degrees of freedom but for means, and for clusters: one less than there are."""
        if self.patterns.cluster is not None:
            return np.full(len(places), self.patterns.clusters - 1.0)
        means = rules_in(self.layout)[1].get(MEAN)
        if means is None:
            return np.full(len(places), np.inf)
        return np.where(np.isin(places, means), self.patterns.count.sum() - 1, np.inf)

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Return the mean squared influence of a pseudo-row on a slot, and its mean influence in each true class."""
        classes = self.patterns.classes
        if place < self.layout.class_slots:
            measure, code = divmod(place, classes)
            slopes = self.class_slopes[:, measure, 1, code]
            return float(np.square(slopes).mean()), slopes.reshape(2, 2).mean(axis=1)
        influence = self._influence_on(place, smooth=True)
        table, (right, wrong) = influence.tables[0], pseudo_shares(classes)
        within = classes * (wrong * table.sum(axis=1) + (right - wrong) * np.diag(table))
        return float(influence.pseudo_squares()[0]), within

    @property
    def _assigned(self) -> Places:
        """The class assigned to each pattern."""
        return np.asarray(self.patterns.assigned[self.model])


def _by_sum(slopes: Array) -> Array:
    """From slopes by the cells of a class's table to slopes by all rows, its true, its assigned and its right ones."""
    tp, fn, fp, tn = slopes
    column = fp - tn
    return np.array([tn, fn - tn, column, tp - fn - column])


# --- pseudo-rows ----------------------------------------------------------------------------------------------------


def pseudo_shares(classes: int) -> tuple[float, float]:
    """Return how much of a pseudo-row is in each cell of the diagonal, and in each of the others.

    It is right as likely as wrong. Spread evenly over all cells, it would be wrong nearly for certain where there are
    many classes, and move a good classifier further than its standard error.
    """
    if classes == 1:
        return 1.0, 0.0
    return 1 / (2 * classes), 1 / (2 * classes * (classes - 1))


@lru_cache(maxsize=FEW_CLASSES)
def pseudo_table(classes: int) -> Array:
    """Return the same cell by cell."""
    right, wrong = pseudo_shares(classes)
    table = np.full((classes, classes), wrong)
    np.fill_diagonal(table, right)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=FEW_CLASSES)
def _pseudo_cells(classes: int) -> Array:
    """Where pseudo-rows go in the tables of classes: over each table, or over the one behind them: (4, 2, 1)."""
    right = pseudo_shares(classes)[0]
    wrong = 1 / classes - right
    behind = np.array([right, wrong, wrong, 1 - right - 2 * wrong])
    cells = PSEUDO_ROWS * np.array([np.full(4, 1 / 4), behind]).T[..., None]
    cells.setflags(write=False)
    return cells


def pseudo_mean(tables: Array | Distances) -> Any:
    """Return the mean over a pseudo-row of what is in each cell of a table: (..., classes, classes)."""
    if isinstance(tables, Distances):
        return np.float64(pseudo_shares(tables.classes)[1] * tables.total())
    right, wrong = pseudo_shares(tables.shape[-1])
    return np.asarray(wrong * tables.sum(axis=(-2, -1)) + (right - wrong) * np.einsum("...ii->...", tables))


# --- what rows add to slots -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Influence:
    """What a row adds to each slot, by its true class i and assigned class j.

    It is base + row[i] + column[j], and + diagonal[i] where i = j, and + penalty * matrix[i, j] in the slots that are
    ``priced`` by a matrix.
    """

    base: Array
    row: Array
    column: Array
    diagonal: Array
    penalty: Array
    priced: Mapping[int, Array | Distances]

    @cached_property
    def tables(self) -> Array:
        """All slots over the whole table: (slots, classes, classes)."""
        values = (self.base[:, None] + self.row)[:, :, None] + self.column[:, None, :]
        values.reshape(len(values), -1)[:, :: values.shape[-1] + 1] += self.diagonal
        for place, matrix in self.priced.items():
            values[place] += self.penalty[place] * np.asarray(matrix)  # of few classes it is always laid out
        return values

    @cached_property
    def _priced_tables(self) -> dict[int, Array]:
        """The same of slots with a matrix that is laid out, (classes, classes) each: it has no parts by class."""
        laid_out = [place for place, matrix in self.priced.items() if not isinstance(matrix, Distances)]
        return {place: self[place : place + 1].tables[0] for place in laid_out}

    @cached_property
    def _centred(self) -> tuple[Array, Array]:
        """Row and column, the mean of the column and the base moved into the row."""
        middle = self.column.mean(axis=1, keepdims=True)
        return self.base[:, None] + self.row + middle, self.column - middle

    def __getitem__(self, slots: slice) -> Influence:
        """Some of the slots, one next to the other, without a copy."""
        places = range(len(self.base))[slots]
        base, row, column, diagonal, penalty = (
            part[slots] for part in (self.base, self.row, self.column, self.diagonal, self.penalty)
        )
        priced = {place - places.start: matrix for place, matrix in self.priced.items() if place in places}
        return Influence(base, row, column, diagonal, penalty, priced)

    def at(self, truth: Codes, assigned: Codes) -> Array:
        """Evaluate at pairs of classes: (slots, pairs)."""
        if self.row.shape[1] <= FEW_CLASSES:
            classes = self.row.shape[1]
            cells = truth.astype(np.intp) * classes + assigned
            return np.asarray(self.tables.reshape(-1, classes**2).take(cells, axis=1))
        # Gathered a pair at a time: what is gathered for it lies side by side, a slot next to the other.
        values = np.ascontiguousarray((self.base[:, None] + self.row).T)[truth]
        values += np.ascontiguousarray(self.column.T)[assigned]
        agree = np.flatnonzero(truth == assigned)
        values[agree] += self.diagonal.T[truth[agree]]
        for place, matrix in self.priced.items():
            values[:, place] += self.penalty[place] * matrix[truth, assigned]
        return values.T

    def variances_over(self, squares: Array) -> Array:
        """Sum squared influences over a full table, without laying them out: (row + column)^2 is multiplied out.

        The diagonal is left as it is, and row and column are centred, so that little cancels.
        """
        right, wrong = np.diag(squares), squares - np.diag(np.diag(squares))
        row, column = self._centred
        variance = weighted_sums(np.square(row), wrong.sum(axis=1))
        variance += weighted_sums(np.square(column), wrong.sum(axis=0))
        variance += weighted_sums(np.square(row + column + self.diagonal), right)
        step = max(16, SMALL_PRODUCT // wrong.size)
        for low in range(0, len(row), step):
            variance[low : low + step] += 2 * (row[low : low + step] @ wrong * column[low : low + step]).sum(axis=1)
        for place, table in self._priced_tables.items():
            variance[place] = (np.square(table) * squares).sum()
        return np.asarray(np.maximum(variance, 0.0))

    def pseudo_squares(self, first: int = 0) -> Array:
        """Return the mean squared influence of a pseudo-row, on the slots from the first one on."""
        classes = self.row.shape[1]
        if classes <= FEW_CLASSES:
            return np.asarray(pseudo_mean(np.square(self.tables[first:])))
        row, column, diagonal = (part[first:] for part in (*self._centred, self.diagonal))
        right, wrong = pseudo_shares(classes)
        # Over all cells, as if there were no diagonal, the sum of row * column is 0.
        everywhere = classes * (np.square(row) + np.square(column)).sum(axis=1)
        without, on_diagonal = np.square(row + column), np.square(row + column + diagonal)
        squares = wrong * (everywhere - without.sum(axis=1)) + right * on_diagonal.sum(axis=1)
        for place, matrix in self.priced.items():
            at = place - first
            if at >= 0 and isinstance(matrix, Distances):
                price = float(self.penalty[place])
                together = float((row[at] @ matrix).sum() + (column[at] @ matrix).sum())
                squares[at] += wrong * (2 * price * together + price**2 * matrix.total(2))
            elif at >= 0:
                squares[at] = pseudo_mean(np.square(self._priced_tables[place]))
        return np.asarray(squares)
