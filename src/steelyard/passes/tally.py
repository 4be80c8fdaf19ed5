"""The sums of a run: they can be added, subtracted, saved and loaded. Knows no measure."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import things_in
from ..core.errors import BadOption, OverlappingTallies, TooLarge, UnlikeTallies, quoted
from ..core.scale import Continuum, Label, Scale, listed
from ..core.text import in_words, rows_in_words
from ..families.summed.summarising import Summarising
from ..families.summed.summary import Summaries, Summary
from ..inputs.categorical import merged_order
from ..inputs.dataset import Available, Dataset, words_on_weights
from ..inputs.remarks import IN_CELL, Remark, joined, reached_of, unassigned, without_thresholds
from ..inputs.remarks import words as words_of
from ..states.held_rows import Rows
from ..states.statistics import PatternCounts, Patterns, confusion, confusion_of
from .provenance import (
    OVERLAP,
    both,
    check_debts,
    check_no_overlap,
    check_same_reading,
    of_both,
    settled,
    without,
    words_on,
)
from .tally_files import ROUNDING, Contents

if TYPE_CHECKING:
    from pathlib import Path

    from ..core.typing import Places
    from ..families.summed.recipe import Recipe

MOST_NAMED = 5
HOLD_THEM = "Read them into a data frame first, if it fits into memory; or leave rows out with where="
MOST_ROWS = 1 << 20  # that are held with their scores where there is a recipe for what to keep of more


@dataclass(frozen=True, eq=False)
class Tally(Contents):
    """All that an assessment needs to know about the rows.

    Attributes:
        scale: The classes.
        models: The names of the classifiers.
        sums: Patterns and their sums.
        scores: The rows themselves with their scores, where there are any; for what sums cannot tell.
        slices: Labels of the parts of the data; empty where there are none.
        arrangement: These, and perhaps others, in the order in which whoever made the column wants to see them.
        groups: Labels of the clusters; empty where rows are independent.
        dropped: Rows left out because a value was missing.
        reading: How rows were read, as pairs of option and value; empty where that is not known.
        left_out: What was wrong with files that were left out, one text a file.
        recipe: What is to be kept of rows where they become too many to be held; None where all are held.
        summaries: What was kept of them then.
        scored: Whether any classifier gave scores, also where nothing but the classes that they assigned was counted.
        published: Whether a table of counts was given, and never any rows.
        where: Which of the rows that were given count; None where all do, or where that is not known.
        made_before: Whether the sums themselves were given, and not what they were made of.
        remarks: What was noticed while rows were read that a reader of the result must know.
        sources: The files and data that rows come from; empty where nothing is known of that.
        veiled: Whether digests stand in the place of the labels of clusters.
    """

    @classmethod
    def of(cls, dataset: Dataset, with_scores: bool = True) -> Tally:
        """Sum up a batch of rows; their scores need not be kept where nobody will ask for them."""
        scored = dataset.scored
        return cls(
            dataset.scale,
            tuple(dataset.assigned),
            confusion(dataset),
            () if dataset.slice is None else dataset.slice.labels,
            () if dataset.group is None else dataset.group.labels,
            dataset.dropped,
            Rows.of(dataset) if with_scores and (scored or dataset.measured is not None) else None,
            arrangement=() if dataset.slice is None else dataset.slice.order,
            scored=scored,
            remarks=dataset.remarks,
        )

    @classmethod
    def empty(cls, scale: Scale, models: Sequence[str]) -> Tally:
        """The tally of no rows: adding it changes nothing."""
        named = things_in(models)
        if not named or not all(isinstance(name, str) for name in named) or not isinstance(scale, Scale):
            raise BadOption(
                f"{quoted(scale)} and {quoted(models)} make no tally",
                mend="Give a scale and a list of names: Tally.empty(Scale(['no', 'yes']), ['model'])",
            )
        sums = PatternCounts(np.zeros((0, 3 + len(named)), np.int64), np.zeros((0, 3)))
        return cls(scale, tuple(named), sums)

    @property
    def parts(self) -> tuple[Label, ...]:
        """Labels of the parts of the data in the order in which they are shown."""
        here = set(self.slices)
        return tuple(filter(here.__contains__, self.arrangement)) if here <= set(self.arrangement) else self.slices

    def __repr__(self) -> str:
        """In one line: what lies in it are sums without names."""
        models, classes = in_words(len(self.models), "classifier"), in_words(len(self.scale), "class", "classes")
        return f"tally of {rows_in_words(self.rows)}, {classes}, {models}"

    def __add__(self, other: Tally) -> Tally:
        """Merge: the tally of both batches together."""
        if not isinstance(other, Tally):
            return NotImplemented
        return self.joined(other)

    def joined(self, other: Tally, allow_overlap: bool = False) -> Tally:
        """The tally of both batches together; rows of one source count twice only where that is allowed."""
        self.check_addable(other)
        ours, theirs = settled(self.sources), settled(other.sources)
        if not allow_overlap:
            if self is other and ours and len(self.sums.keys):
                raise OverlappingTallies(f"a tally is added to itself, {rows_in_words(self.rows)}", mend=OVERLAP)
            check_no_overlap(ours, theirs, ("one tally", "the other"))
        return replace(self._summed_with(other), sources=both(ours, theirs))

    def _summed_with(self, other: Tally) -> Tally:
        if self.veiled != other.veiled and self.groups and other.groups:
            from .tally_files import veiled

            one, two = (tally if tally.veiled else veiled(tally) for tally in (self, other))
            one._check_same_clusters(two)
            return one._summed_with(two)
        slices, ours, theirs = _union(self, other, "slices")
        groups, our_groups, their_groups = _union(self, other, "groups")
        left = _recode(_recode(self.sums, 0, ours), 1, our_groups)
        right = _recode(_recode(other.sums, 0, theirs), 1, their_groups)
        pairs = ((self.scores, ours, our_groups), (other.scores, theirs, their_groups))
        parts = [rows.refuse_changed().recoded(*places) for rows, *places in pairs if rows is not None and len(rows)]
        summaries = self._summarised(other)
        sums, kept = left + right, reduce(operator.add, parts) if parts and summaries is None else None
        places, slices = _pruned(sums, 0, slices)
        group_places, groups = _pruned(sums, 1, groups)
        return replace(
            self,
            sums=_recode(_recode(sums, 0, places), 1, group_places),
            slices=slices,
            groups=groups,
            dropped=self.dropped + other.dropped,
            scores=None if kept is None else kept.recoded(places, group_places),
            reading=of_both(self.reading, other.reading),
            left_out=self.left_out + other.left_out,
            recipe=self._recipe(other),
            summaries=summaries,
            published=self.published and other.published,
            where=self.where if self.where == other.where else None,
            arrangement=self._arrangement(other),
            scored=self.scored or other.scored,
            remarks=joined(self.remarks, other.remarks),
            veiled=self.veiled if self.groups else other.veiled,
        )

    def _arrangement(self, other: Tally) -> tuple[Label, ...]:
        """The order in which both show their parts; none where they disagree."""
        orders = [tally.arrangement for tally in (self, other) if tally.slices]
        return merged_order(orders[0], orders[-1]) if orders and all(orders) else ()

    def _summarised(self, other: Tally) -> Summaries | None:
        """What to keep of the rows of both where they are too many to be held together."""
        recipe, pair = self._recipe(other), [self, other]
        held = sum(tally.scores.left for tally in pair if tally.scores is not None)
        if recipe is None or (held <= MOST_ROWS and self.summaries is None and other.summaries is None):
            return None
        found = [tally.summarised(recipe) for tally in pair]
        return reduce(operator.add, [each for each in found if each is not None])

    def _recipe(self, other: Tally) -> Recipe | None:
        return other.recipe if self.recipe is None else self.recipe.meeting(other.recipe)

    def summarised(self, recipe: Recipe) -> Summaries | None:
        """What to keep of the rows; None where there are none."""
        if self.summaries is not None or self.scores is None:
            return self.summaries
        added, taken = (
            _summed(recipe, rows, self.slices, self.groups) for rows in self.scores.told_apart(recipe.weighed)
        )
        found = [each for each in (added, None if taken is None else -taken) if each is not None]
        return reduce(operator.add, found) if found else None

    def __sub__(self, other: Tally) -> Tally:
        """Take a batch out that was added before."""
        if not isinstance(other, Tally):
            return NotImplemented
        if self.veiled and not other.veiled and other.groups:
            from .tally_files import veiled

            other = veiled(other)  # now: of what is negative, no file could be made
        scores = None if other.scores is None else -other.scores
        summaries = None if other.summaries is None else -other.summaries
        taken = replace(
            other,
            sums=-other.sums,
            dropped=-other.dropped,
            scores=scores,
            summaries=summaries,
            remarks=joined({}, other.remarks, -1),
        )
        sources = without(settled(self.sources), settled(other.sources))
        self.check_addable(other)
        left_out = tuple(why for why in self.left_out if why not in other.left_out)
        return replace(self._summed_with(taken), left_out=left_out, sources=sources)

    def __radd__(self, other: object) -> Tally:
        """Let ``sum`` begin with nothing."""
        return self if other == 0 else NotImplemented

    def refuse_negative(self) -> None:
        """On the way there may be less than nothing of some rows; what is left in the end was added."""
        check_debts(self.sources)
        kept = None if self.scores is None else self.scores.sums
        found = [sums for sums in (self.sums.values, kept) if sums is not None and len(sums)]
        # Of weights, the last digits of what was taken out may be left.
        if any((sums < [0, *(-ROUNDING * np.abs(sums[:, 1:]).max(axis=0))]).any() for sums in found):
            raise UnlikeTallies(
                "rows were taken out of the tally that it did not hold", mend="Subtract what was added before"
            )

    def check_addable(self, other: Tally) -> None:
        """Name the difference to a tally that cannot be added."""
        _check_same_scale(self.scale, other.scale)
        if self.models != other.models:
            raise UnlikeTallies(
                f"one tally is of {listed(self.models)}, the other of {listed(other.models)}",
                mend="Only tallies of the same classifiers add up: make both with the same names of them",
            )
        check_same_reading(self.reading, other.reading)
        _check_same_labels(self, other, "slices")
        self._check_same_clusters(other)
        summed = self.summaries is not None or other.summaries is not None
        if not summed and self._scored != other._scored and len(self.sums.keys) and len(other.sums.keys):
            raise UnlikeTallies("the tallies do not have scores of the same kind", mend="Make both the same way")

    def _check_same_clusters(self, other: Tally) -> None:
        """Refuse clusters of another kind of labels; digests begin with what kind they are of."""
        _check_same_labels(self, other, "groups")
        kinds = [str(tally.groups[0]).partition("-")[0] for tally in (self, other) if tally.veiled and tally.groups]
        if len(kinds) > 1 and (kinds[0] == "text") != (kinds[1] == "text"):
            raise UnlikeTallies("the groups of one are text and of the other numbers", mend="Use one kind")

    @property
    def _scored(self) -> tuple[Any, ...]:
        """What the rows that were kept hold."""
        rows = self.scores
        if rows is None:
            return ()
        return tuple(rows.shape), None if rows.measured is None else (rows.measured.given, rows.measured.errors)

    @property
    def given(self) -> Available:
        """What there is for measures to be made of."""
        return self._kept_given._replace(unassigned=unassigned(self.remarks, self.models))

    @property
    def _kept_given(self) -> Available:
        if self.summaries is not None:
            return self.summaries.whole.recipe.given
        return Available(self.scored, kept=not self.scored) if self.scores is None else self.scores.given

    @property
    def words_on_left_out(self) -> list[str]:
        """What a reader must know about files that are not in the sums."""
        several = f"{len(self.left_out):,} files were left out" if len(self.left_out) > 1 else "1 file was left out"
        more = len(self.left_out) - MOST_NAMED
        named = [f"{several}: " + "; ".join(self.left_out[:MOST_NAMED]) + (f"; and {more:,} more" if more > 0 else "")]
        return named if self.left_out else []

    @property
    def words_on_input(self) -> list[str]:
        """What a reader must know about the files that are not in the sums, and about what was read."""
        _, mass, square = self.sums.values.T
        on_weights = words_on_weights(self.remarks, self.rows, sampled=not np.array_equal(mass, square))
        return [*self.words_on_left_out, *words_of(self.remarks), *on_weights, *words_on(self.sources)]

    def kept_of(self, slice_label: Label | None = None) -> Rows | Summary | None:
        """The rows of one slice, or all, where they were held, or what was kept of them.

        Of rows that were too many, a small slice is kept as it is: its results are those of the same rows in memory.
        """
        if self.summaries is None:
            return self.rows_of(slice_label)
        kept = self.summaries.of(slice_label)
        return kept if kept.rows is None or len(kept.rows) > MOST_ROWS else kept.rows

    @property
    def some_rows(self) -> Rows | None:
        """All rows that were held, or the few that are kept of those that were not."""
        return self.scores if self.summaries is None else self.summaries.whole.sample.bare

    def rows_of(self, slice_label: Label | None = None) -> Rows | None:
        """The rows of one slice, or all, where they were held."""
        if self.summaries is not None:
            raise TooLarge(
                "this needs all rows at hand, and these were too many to be held",
                mend=HOLD_THEM,
            )
        if self.scores is None or slice_label is None:
            return self.scores
        return self.scores.select(np.asarray(self.scores.slice == self.slices.index(slice_label)))

    def at_threshold(self, model: int, code: int, threshold: float) -> Tally:
        """One classifier alone, its rows assigned to a class of two where the score reaches a threshold."""
        rows = self.scores
        if self.summaries is not None:
            return self._cells_at(self.summaries, model, code, threshold)
        if rows is None:
            raise UnlikeTallies(
                "no scores were kept", mend="Give scores, and ask for a measure of them too, such as auc"
            )
        assigned = rows.scores[model].reaches(code, threshold)
        measured = None if rows.measured is None else replace(rows.measured, assigned=(assigned,))
        alone = replace(rows, scores=(rows.scores[model],), measured=measured)
        sums = confusion_of(alone, assigned, len(self.scale))
        found = replace(self, models=(self.models[model],), sums=sums, scores=alone)
        return found._with_threshold(code, threshold)

    def _cells_at(self, summaries: Summaries, model: int, code: int, threshold: float) -> Tally:
        """The same by cells of scores, where rows were not held; counts are exact at the least score of a cell."""
        if self.groups:
            raise TooLarge(
                "at other thresholds the rows of clusters must be at hand, and these were too many to be held",
                mend=f"Assess them with threshold={threshold:g}",
            )
        sums, unsure = PatternCounts(np.zeros((0, 4), np.int64), np.zeros((0, 3))), 0
        for label, summary in summaries.parts.items():
            rows, unsure = summary.cells(model, code), unsure + summary.unsure(model, code, threshold)
            part = np.full(len(rows), 0 if label is None else self.slices.index(label))
            assigned = rows.scores[0].reaches(code, threshold)
            sums = sums + confusion_of(replace(rows, slice=part), assigned, len(self.scale))
        found = replace(self, models=(self.models[model],), sums=sums, recipe=None, summaries=None)
        found = found._with_threshold(code, threshold)
        if not unsure:
            return found
        return replace(found, remarks={**found.remarks, Remark(IN_CELL, self.models[model]): unsure})

    def _with_threshold(self, code: int, threshold: float) -> Tally:
        """With what is known of a threshold by which the rows of one classifier were assigned."""
        (name,), counts = self.models, self.sums.values[:, 0]
        reached = round(float(counts[self.sums.keys[:, 3] == code].sum()))
        told = reached_of(name, threshold, reached, round(float(counts.sum())) - reached)
        return replace(self, remarks=without_thresholds(self.remarks, (name,)) | told)

    def patterns(self, slice_label: Label | None = None) -> Patterns:
        """Lay out the patterns of one slice, or of all rows."""
        sums = self.sums
        if slice_label is not None:
            sums = sums.select(sums.keys[:, 0] == self.slices.index(slice_label))
        return Patterns.of(sums, len(self.scale), clustered=bool(self.groups))

    def save(self, path: str | Path, rows: bool = False, *, overwrite: bool = False) -> None:
        """Write to a file, whole or not at all: Arrow streams, and behind them the checksum of every byte.

        Args:
            path: The file. A tally that is there already is replaced.
            rows: Whether rows and labels of clusters are stored as they are. By default the file holds no row as it
                came, no label of a cluster and no folder.
            overwrite: Replace a file that is not a tally, too; otherwise that is an error.
        """
        from .tally_files import save

        save(self, path, rows, overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Tally:
        """Read what ``save`` wrote; refuse anything else, and anything that changed since."""
        from .tally_files import load

        return load(path, cls)


def _summed(recipe: Recipe, rows: Rows, slices: tuple[Label, ...], groups: tuple[Label, ...]) -> Summaries | None:
    """What to keep of some rows; None where there are none."""
    if not len(rows):
        return None
    summarising = Summarising(recipe)
    summarising.add(rows, slices, groups)
    return summarising.state()


def _check_same_scale(one: Scale, other: Scale) -> None:
    """Name the difference between the scales of tallies that cannot be added."""
    if one == other:
        return
    if one.classes != other.classes:
        problem = f"one tally has the classes {listed(one.classes)}, the other {listed(other.classes)}"
        raise UnlikeTallies(problem, mend="Make both with all classes in the same order: scale=Scale([...])")
    if one.event != other.event:
        ours, theirs = ("none" if scale.event is None else quoted(scale.event) for scale in (one, other))
        named = theirs if one.event is None else ours
        raise UnlikeTallies(
            f"the event is {ours} in one tally and {theirs} in the other", mend=f"Make both with event={named}"
        )
    raise UnlikeTallies(
        f"the classes of one tally are {_cut(one)}, those of the other {_cut(other)}",
        mend="Cut both at the same places, as by scale=Continuum([65])",
    )


def _cut(scale: Scale) -> str:
    if not isinstance(scale, Continuum):
        return "not cut"
    return f"cut at {listed(scale.boundaries[1:-1])}, the {scale.closed} end of a class within it"


def _check_same_labels(left: Tally, right: Tally, what: str) -> None:
    """Labels of one kind can be brought into one order; those of a tally are of one kind."""
    ours, theirs = getattr(left, what), getattr(right, what)
    if bool(ours) != bool(theirs) and len(left.sums.keys) and len(right.sums.keys):
        raise UnlikeTallies(f"one tally has {what} and the other has none", mend="Make both the same way")
    alike = what != "groups" or left.veiled == right.veiled
    if alike and ours and theirs and isinstance(ours[0], str) != isinstance(theirs[0], str):
        raise UnlikeTallies(f"the {what} of one are text and of the other numbers", mend="Use one kind")


def _union(left: Tally, right: Tally, what: str) -> tuple[tuple[Label, ...], Places, Places]:
    """All labels of both, sorted, and where each one's labels went."""
    ours, theirs = getattr(left, what), getattr(right, what)
    labels = tuple(sorted({*ours, *theirs}))
    places = {label: place for place, label in enumerate(labels)}
    return (
        labels,
        np.array([places[label] for label in ours] or [0], dtype=np.int64),
        np.array([places[label] for label in theirs] or [0], dtype=np.int64),
    )


def _recode(sums: PatternCounts, column: int, places: Places) -> PatternCounts:
    if len(places) == 1 and places[0] == 0:  # as where there are no labels
        return sums
    keys = sums.keys.copy()
    keys[:, column] = places[keys[:, column]]
    return PatternCounts(keys, sums.values)


def _pruned(sums: PatternCounts, column: int, labels: tuple[Label, ...]) -> tuple[Places, tuple[Label, ...]]:
    """Forget the labels of which no row is left: where each label goes, and those that stay."""
    if not labels:
        return np.zeros(1, dtype=np.int64), ()
    used = np.zeros(max(len(labels), 1), dtype=bool)
    used[sums.keys[:, column]] = True
    kept = tuple(label for label, here in zip(labels, used.tolist(), strict=False) if here)
    return np.maximum(np.cumsum(used) - 1, 0), kept
