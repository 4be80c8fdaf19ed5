"""What a classifier said, in one of three forms: labels, a score for the event, or one membership a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from ..core.arrays import checksum, frozen, own, pieces
from ..core.columns import (
    flattened,
    is_boolean,
    is_floating,
    is_listed,
    is_table,
    is_whole,
    numbers,
    numbers_in_rows,
    refuse_twice,
    take,
)
from ..core.errors import (
    AmbiguousPrediction,
    BadOption,
    ChangedInput,
    EventNeeded,
    NotNumbers,
    OutsideContinuum,
    UnboundClasses,
    WrongShape,
    quoted,
)
from ..core.scale import Continuum, Label, Scale, listed, plain_label
from ..core.suggestions import did_you_mean
from ..core.threads import chunks
from ..data import sources
from .categorical import Categorical, refuse_missing
from .labels import coded
from .membership import (
    Noticed,
    are_probabilities,
    assign_highest,
    assign_none,
    assign_threshold,
    check_no_missing,
    missing_rows,
)

if TYPE_CHECKING:
    from ..core.typing import Codes, Marks, Numbers, Places


WORTH_SEALING = 1 << 20  # values: as many are copied in no time
WIDE = 4 * 8  # bytes from a row to the next
KEPT = {np.dtype(kind).str for kind in (np.float16, np.float32, np.float64)}


class Scores(NamedTuple):
    """A classifier's scores: one column a class, or one alone that speaks for a class.

    Where it gave labels there are none, but the classes that it ``assigned``. ``seal`` is the checksum of columns that
    somebody else could write into. Several columns are probabilities that were checked when they came in, unless they
    are ``free``: then they may be. ``raw`` scores were given as scores on any scale: they rank rows, and are no
    probabilities, whatever they look like.
    """

    columns: tuple[Numbers, ...] = ()
    speaks: int = -1
    assigned: Codes | None = None
    seal: int | None = None
    free: bool = False
    raw: bool = False

    def rows(self, low: int, high: int) -> Scores:
        """Some of the rows, each column in one piece."""
        assigned = None if self.assigned is None else self.assigned[low:high]
        return self._replace(columns=tuple(pieces(self.columns, low, high)), assigned=assigned, seal=None)

    def at(self, rows: Places) -> Scores:
        """What was said of some rows."""
        assigned = None if self.assigned is None else self.assigned[rows]
        return self._replace(columns=tuple(column[rows] for column in self.columns), assigned=assigned, seal=None)

    def sealed(self) -> Scores:
        """Scores that cannot change unnoticed: few are copied, of many a checksum is kept.

        Columns of a wide matrix are copied too: reading one of them, as sorting does, would read through all of them.
        So are numbers that are no floats of this machine: their negatives could be others, and no tally holds them.
        """
        size, plain = 0, True
        for column in self.columns:
            plain &= column.strides[0] <= WIDE and column.dtype.str in KEPT
            size += column.size
        if size <= WORTH_SEALING or not plain:
            return self._replace(columns=own(self.columns))
        return self._replace(seal=None if all(map(frozen, self.columns)) else checksum(self.columns))

    def refuse_changed(self) -> None:
        """See whether the scores are still those that were given."""
        if self.seal is not None and self.seal != checksum(self.columns):
            raise ChangedInput(
                "the array of scores was changed after it was given",
                mend="Give a copy of it, or look at the results before you change it",
            )

    @property
    def are_probabilities(self) -> bool:
        """Whether nothing lies outside 0 and 1, and several columns add up; never where they were given as scores."""
        if self.raw:
            return False
        if len(self.columns) == 1:
            return bool(self.columns[0].min() >= 0 and self.columns[0].max() <= 1)
        return not self.free or are_probabilities(self.columns)

    def of_class(self, code: int) -> Numbers:
        """The score of a class; of two classes, one score serves both."""
        if len(self.columns) > 1:
            return self.columns[code]
        return self.columns[0] if code == self.speaks else -self.columns[0]

    def parts_by(self, scale: Scale) -> int | None:
        """The class that a threshold of these scores assigns rows to; None where there is none."""
        if not self.columns or len(scale) > 2:
            return None
        return self.speaks if len(self.columns) == 1 else scale.event_code

    def memberships(self) -> tuple[Numbers, ...]:
        """One column a class; one probability of two makes both."""
        if len(self.columns) != 1:
            return self.columns
        both = 1 - self.columns[0], self.columns[0]
        return both[::-1] if self.speaks == 0 else both

    def likeliest(self, event: int | None = None) -> Codes:
        """The likeliest class of each row; the event wins a tie, or else the first class that is tied."""
        if len(self.columns) == 1:
            wins = self.speaks == (event or 0)
            reached = self.columns[0] >= 0.5 if wins else self.columns[0] > 0.5
            return np.where(reached, self.speaks, 1 - self.speaks).astype(np.uint8)
        stacked = np.stack(self.columns)
        codes: Codes = stacked.argmax(axis=0)
        return codes if event is None else np.where(stacked[event] == stacked.max(axis=0), event, codes)

    def muted(self, classes: int) -> Scores:
        """Scores without the numbers of those that are no probabilities: of nobody is anything known."""
        if not self.raw:
            return self
        size = len(self.columns[0] if self.assigned is None else self.assigned)
        return self._replace(columns=(np.full(size, 1 / classes),) * classes, speaks=-1, assigned=None, seal=None)

    def refuse_turned(self, code: int, threshold: float) -> None:
        """Refuse a threshold of one class of two where nothing but the score of the other one is there."""
        if self.speaks not in (-1, code) and 0 < threshold < np.inf and self.columns[0].min(initial=0) >= 0:
            raise BadOption(
                f"no score of this class reaches {threshold:g}: they are those of the other class, the sign turned",
                mend=f"Say {-threshold:g} for a score of {threshold:g} or less of the other one; or give both columns",
            )

    def reaches(self, code: int, threshold: float) -> Codes:
        """Assign rows to one class of two where its score reaches a threshold, and to the other elsewhere."""
        self.refuse_turned(code, threshold)
        with np.errstate(over="ignore"):  # a threshold beyond what the score's type can hold
            return np.where(self.of_class(code) >= threshold, code, 1 - code).astype(np.uint8)


@dataclass(frozen=True)
class Prediction:
    """What one classifier said of every row.

    Attributes:
        name: The classifier, or the column that it comes from.
        labels: The assigned labels, where it gave labels.
        columns: One score for the event, or one membership a class.
        class_names: The classes that the columns belong to, as text; empty where only their order says it.
        headings: The names of the columns where they come from a table, for messages.
        bound: Whether it was said that these are names of classes; else one column may be called anything.
        raw: Whether these are scores on any scale, that are never read as probabilities.
    """

    name: str
    labels: Categorical | None = None
    columns: tuple[Numbers, ...] = ()
    class_names: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    bound: bool = False
    raw: bool = False

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.columns[0]) if self.labels is None else len(self.labels)

    def heading(self, place: int) -> str:
        """What a message calls a column."""
        if self.headings:
            return self.headings[place]
        return f"{self.name}[{self.class_names[place] if self.class_names else place}]"

    def missing(self) -> Marks | None:
        """Mark the rows without a prediction."""
        if self.labels is None:
            return missing_rows(self.columns)
        return self.labels.missing() if self.labels.has_missing else None

    def keep(self, rows: Marks) -> Prediction:
        """Leave out the rows that are not marked."""
        labels = None if self.labels is None else self.labels.keep(rows)
        return replace(self, labels=labels, columns=tuple(column[rows] for column in self.columns))

    def assigned(
        self,
        scale: Scale,
        threshold: float | None,
        any_scale: bool = False,
        noticed: Noticed | None = None,
    ) -> Codes:
        """The class of every row, as its place on the scale; a row without a prediction is refused."""
        if self.labels is not None:
            refuse_missing(self.labels)
            return self.labels.on(scale)
        if threshold is None and not self.raw and self._is_value_on(scale):
            return self._cut(scale)
        free = any_scale or self.raw
        if len(self.columns) == 1:
            heading = self.headings[0] if self.headings else self.name
            check_no_missing(self.columns[0][:1], heading)  # lists without any number speak for no class
            code, winner = self._spoken_for(scale), scale.event_code or 0
            return assign_threshold(self.columns[0], heading, code, threshold, free, winner=winner, noticed=noticed)
        order = self._order(scale)
        columns, headings = [self.columns[k] for k in order], [self.heading(k) for k in order]
        # A row that does not add up is nobody's fault alone: of a table, all its columns are named.
        together = f"{headings[0]} to {headings[-1]}" if self.headings else self.name
        highest = noticed if threshold is None else None
        codes = (
            assign_none(columns, headings)
            if free
            else assign_highest(columns, headings, together, scale.event_code, highest)
        )
        if threshold is None:
            return codes
        event = self._spoken_for(scale)
        return assign_threshold(columns[event], headings[event], event, threshold, noticed=noticed)

    def scores(self, scale: Scale, any_scale: bool = False) -> Scores:
        """What it said in numbers, with the columns in the order of the scale."""
        if self.labels is not None or (not self.raw and self._is_value_on(scale)):
            return Scores()
        if len(self.columns) == 1:
            return Scores(self.columns, self._spoken_for(scale), raw=self.raw)
        return Scores(tuple(self.columns[k] for k in self._order(scale)), free=any_scale or self.raw, raw=self.raw)

    def _is_value_on(self, scale: Scale) -> TypeGuard[Continuum]:
        """Whether it is a guess at the measured value: a single column that speaks for no class, and is no share."""
        if not isinstance(scale, Continuum) or len(self.columns) > 1 or self.class_names or scale.event is not None:
            return False
        cuts = scale.boundaries[1:-1]
        # Where no cut lies between 0 and 1, values there would all be of one class: more likely, they are shares. Of
        # more than two classes, shares in one column speak for none.
        parted = 0 < cuts[0] < 1 if len(cuts) == 1 else any(0 <= cut <= 1 for cut in cuts)
        return parted or bool(((self.columns[0] < 0) | (self.columns[0] > 1)).any())

    def _cut(self, scale: Continuum) -> Codes:
        """The classes that values lie in."""
        check_no_missing(self.columns[0], self.name)
        try:
            return scale.cut(self.columns[0]).astype(np.min_scalar_type(len(scale) - 1))
        except OutsideContinuum as error:
            raise error.but(column=self.name) from None

    def _order(self, scale: Scale) -> Sequence[int]:
        """Which column belongs to each class of the scale."""
        if self.class_names:
            return sources.bind(self.class_names, scale, self.headings)
        if len(self.columns) == len(scale):
            return range(len(scale))
        mend = "Give one column a class, in the order of scale=Scale([...]), or a frame with class names"
        raise WrongShape(
            f"{len(self.columns)} membership columns for {len(scale)} classes{self._unlike(scale)}",
            column=self.name,
            mend=mend,
        )

    def _unlike(self, scale: Scale) -> str:
        """Which classes are too many or never seen, if columns are counted from 0 on as classes often are."""
        if not all(type(label) is int for label in scale.classes):
            return ""
        counted = range(len(self.columns))
        extra = [label for label in scale.classes if label not in counted]
        unseen = [place for place in counted if place not in scale.classes]
        if len(extra) >= len(scale):
            return ""
        if extra:
            return f": {listed(extra, 5)} {'has' if len(extra) == 1 else 'have'} no column"
        return f": {listed(unseen, 5)} {'is' if len(unseen) == 1 else 'are'} never seen"

    def _spoken_for(self, scale: Scale) -> int:
        """The class that a threshold is for: the one that a single score is named after, or else the event."""
        alone = self.class_names[0] if len(self.class_names) == 1 else None
        code = scale.event_code if alone is None else sources.place_of(alone, scale)
        if code is None and self.bound:
            raise UnboundClasses(
                f"{quoted(alone)} is not one of the classes {listed(scale.classes)}",
                column=self.name,
                mend=did_you_mean(alone, scale.classes, "Bind the column to one of these by its name"),
            )
        code = scale.event_code if code is None else code
        if len(scale) == 2 and code is not None:
            return code
        named = "no event" if scale.event is None else f"the event {quoted(scale.event)}"
        if len(scale) == 2:
            called = [
                label for label in scale.classes if f"_{self.name}".endswith(("_" + str(label), "." + str(label)))
            ]
            either = " or ".join(f"event={quoted(label)}" for label in called[-1:] or scale.classes[::-1])
            mend = f"Name the class that the score speaks for: {either}"
            if isinstance(scale, Continuum):
                mend += "; guesses at what was measured that all lie on one side of the cut are given as its label"
        elif len(self.columns) == 1:
            mend = "It tells two classes apart: give one column a class, or a truth that is one class and the rest"
            if isinstance(scale, Continuum) and scale.event is not None:
                mend = "Guesses at what was measured speak for no class: leave the event out, and they are cut like it"
        else:
            decides = "one score a class only ranks" if self.raw else "the highest decides"
            mend = f"Leave it out: {decides}; or give a truth that is one class and the rest"
        problem = "a single score cannot be read" if len(self.columns) == 1 else "a threshold cannot be applied"
        raise EventNeeded(f"{problem}: {len(scale)} classes and {named}", column=self.name, mend=mend)


def recognise(value: Any, name: str, known: Sequence[Label], event: Any, as_scores: bool = False) -> Prediction:
    """See what form a prediction has.

    ``known`` are the labels that the scale or the truth has; where scores are asked for, numbers are scores.
    """
    if isinstance(value, Prediction):
        return value
    if isinstance(value, Mapping):
        return replace(_named([str(plain_label(label)) for label in value], list(value.values()), name), bound=True)
    if hasattr(type(value), "predict"):
        raise BadOption(
            f"a {type(value).__name__} stands where its predictions must",
            column=name,
            mend="Give model.predict_proba(X) or model.predict(X) of rows that it has not seen, or see cross_assess",
        )
    column = take(value, name)
    if not isinstance(column, np.ndarray):
        if is_table(column):
            return _named([field.name for field in column.type], column.flatten(), name)
        if is_listed(column):
            return scored(column, name)
    elif column.ndim == 2 and column.shape[1] > 1:
        columns = tuple(numbers(column[:, place], f"{name}[{place}]") for place in range(column.shape[1]))
        return Prediction(name, columns=columns)
    elif column.ndim > 1:
        raise WrongShape(
            f"the prediction has the shape {column.shape}",
            column=name,
            mend="Give labels or scores (n,), or one membership column a class (n, C)",
        )
    column = flattened(column, name)
    if is_floating(column):
        score = as_scores or _is_score(column, name, known, event)
    else:
        score = as_scores and is_whole(column) and not is_boolean(column) and _are_no_labels(column, name, known)
    return Prediction(name, columns=(numbers(column, name),)) if score else Prediction(name, labels=coded(column, name))


def recognise_scores(value: Any, name: str) -> Prediction:
    """Read scores on any scale: numbers are scores whatever they look like, and anything else is refused."""
    if isinstance(value, Prediction):
        found = value
    else:
        column = value if isinstance(value, Mapping) or hasattr(type(value), "predict") else take(value, name)
        several = isinstance(column, Mapping) or hasattr(type(column), "predict") or is_table(column)
        if several or is_listed(column) or (isinstance(column, np.ndarray) and column.ndim > 1 and column.size):
            alone = isinstance(column, np.ndarray) and column.shape[1:] == (1,)
            found = scored(column[:, 0], name) if alone else recognise(column, name, (), None, as_scores=True)
        else:
            found = scored(flattened(column, name), name)
    if found.labels is not None:
        raise NotNumbers("score= takes numbers, and these are labels", column=name, mend="Give them as predictions")
    return replace(found, raw=True)


def scored(column: Any, name: str) -> Prediction:
    """A column of scores; or of memberships, where each of its rows holds those of all classes."""
    if not is_listed(column):
        return Prediction(name, columns=(numbers(column, name),))
    return Prediction(name, columns=tuple(numbers_in_rows(column, name).T))


def _named(classes: Sequence[str], columns: Sequence[Any], name: str) -> Prediction:
    if not columns:
        raise WrongShape("the prediction has no columns", column=name, mend="Give one membership column a class")
    refuse_twice(classes)
    headings = [f"{name}[{label}]" for label in classes]
    taken = [numbers(column, heading) for column, heading in zip(columns, headings, strict=True)]
    return Prediction(name, columns=tuple(taken), class_names=tuple(classes))


def _are_no_labels(column: Any, name: str, known: Sequence[Label]) -> bool:
    """Whether whole numbers cannot all be labels; one that is missing says nothing about the others."""
    values = numbers(column, name)
    there = values[~np.isnan(values)]
    return not bool(np.isin(there, [label for label in known if isinstance(label, int)]).all())


def _is_score(column: Any, name: str, known: Sequence[Label], event: Any) -> bool:
    """Tell scores from labels that are held as floats.

    Whole numbers are labels, unless they are all 0 or 1 and the classes are others.
    """
    if known and isinstance(known[0], str):
        return True
    values = numbers(column, name)
    seen: set[float] = set()
    for low, high in chunks(0, len(values)):
        piece = values[low:high]
        if (piece != np.floor(piece))[~np.isnan(piece)].any() or np.isinf(piece).any():
            return True
        seen.update(np.unique(piece[~np.isnan(piece)]).tolist())
    if not seen <= {0.0, 1.0}:
        return False
    zero_one = set(known) <= {0, 1}
    if not zero_one and not seen <= set(known):
        return True
    # Of the classes 0 and 1, labels and probabilities of 1 say the same.
    if seen and event is not None and not (zero_one and event == 1):
        raise AmbiguousPrediction(
            f"the numbers 0 and 1 can be labels, or probabilities of the event {quoted(event)}",
            column=name,
            mend="Give labels as integers, or say threshold=0.5 if they are probabilities",
        )
    return False
