"""Everything that can be wrong with what a user hands in, one exception each, all under one base.

A message names the place (column and row, where there are any), says what is wrong and how to mend it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

# Exit statuses of the command line; 0 is success, and 128 and the number of a signal that of an interrupted command.
FAILED, BAD_INPUT, UNFINISHED = 1, 2, 3
LONG = 300  # a path is known by its end, which must be seen


def quoted(value: object, limit: int = 60) -> str:
    """Show a value from a file so that it can neither act on a terminal nor flood it."""
    try:
        text = harmless(repr(value[:limit] if isinstance(value, str) else value))
    except Exception:  # a foreign object may do anything when asked what it is
        text = f"<{harmless(type(value).__name__)}>"
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}…{text[-1]}" if isinstance(value, str) else f"{text[:limit]}…"


def harmless(value: object) -> str:
    """Write out every sign that a terminal would obey or hide instead of showing it."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


class SteelyardError(ValueError):
    """The base of all errors that steelyard raises about its input. Rows are counted from 0."""

    exit_code: ClassVar[int] = BAD_INPUT

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        column: str | None = None,
        row: int | None = None,
        mend: str = "",
    ) -> None:
        """Join place, problem and mend into one message; keep them apart as attributes too."""
        self.problem, self.file, self.column, self.row, self.mend = problem, file, column, row, mend
        # A partition of a data frame has a number, and no name that somebody else could have chosen.
        numbered = file is not None and re.fullmatch(r"partition \d+", file)
        place = [] if file is None else [file if numbered else f"file {quoted(file, LONG)}"]
        place += [] if column is None else [f"column {quoted(column)}"]
        place += [] if row is None else [f"row {row}"]
        head = f"{', '.join(place)}: {problem}" if place else problem
        super().__init__(harmless(f"{head}. {mend}" if mend else head))

    def but(self, **others: Any) -> Self:
        """Say the same with another problem, file, column, row or mend."""
        said = {name: getattr(self, name) for name in ("problem", "file", "column", "row", "mend")} | others
        return type(self)(said.pop("problem"), **said)

    def at(self, row: int) -> Self:
        """Say the same of another row: where rows were left out, checks count only those that were kept."""
        return self.but(row=row)

    def mended(self, mend: str) -> Self:
        """Say the same with another mend."""
        return self.but(mend=mend)

    def within(self, file: str | None, row: int | None) -> Self:
        """Say the same of a file, and of a row of it; a message that names the file already stays as it is."""
        return self if self.file is not None else self.but(file=file, row=row)


class EmptyInput(SteelyardError):
    """There is no row to assess."""


class UnequalLengths(SteelyardError):
    """Truth, prediction, weight or group differ in length."""


class MisalignedRows(SteelyardError):
    """A column has other rows than the truth, or has them in another order, as its index says."""


class WrongShape(SteelyardError):
    """An array has a shape that no form of prediction has."""


class MissingValues(SteelyardError):
    """A value is missing, and nobody said that such rows may be dropped."""


class UnknownLabel(SteelyardError):
    """A label is not on the scale."""


class UnusableLabels(SteelyardError):
    """Values that cannot be class labels, or labels of two kinds in one problem."""


class NotNumbers(SteelyardError):
    """A column that must hold numbers holds something else."""


class SwappedArguments(SteelyardError):
    """The first argument looks like the prediction and the second like the truth."""


class EventNeeded(SteelyardError):
    """A single score was given, and which class it speaks for was not."""


class AmbiguousPrediction(SteelyardError):
    """A prediction that can be read in two ways which disagree: as labels or scores, or as columns of other classes."""


class ChangedInput(SteelyardError):
    """An array was changed after it was given and before its results were looked at, or a file while it was read."""


class OutsideUnitInterval(SteelyardError):
    """A probability lies below 0 or above 1."""


class SumNotOne(SteelyardError):
    """The probabilities of a row do not add up to one."""


class OneClass(SteelyardError):
    """Fewer than two classes: there is nothing to tell apart."""


class DuplicateClasses(SteelyardError):
    """A class stands on the scale twice."""


class UnknownColumn(SteelyardError):
    """A column that was asked for is not in the data."""


class DuplicateColumns(SteelyardError):
    """Two columns of the data bear the name that was asked for."""


class UnboundClasses(SteelyardError):
    """The membership columns and the classes do not match one to one."""


class BadWeights(SteelyardError):
    """Weights that are negative, infinite, all zero, too large or small, or fractions where they count rows."""


class BadTable(SteelyardError):
    """A confusion table that is not square, not finite or has negative counts."""


class BadCosts(SteelyardError):
    """A cost matrix that does not fit the classes."""


class BadBoundaries(SteelyardError):
    """Boundaries of a continuum that do not increase."""


class BadDeviation(SteelyardError):
    """A measurement standard deviation that is negative or not a number."""


class TooFewRows(SteelyardError):
    """Fewer rows than a method needs, or none that it could learn from."""


class NoVariance(SteelyardError):
    """A regressor that does not say how sure its predictions are."""


class BadNoise(SteelyardError):
    """A distribution that does not say how probable values are, or not for every row."""


class OutsideContinuum(SteelyardError):
    """A measured value lies outside the outer boundaries and so in no class."""


class UnknownMeasure(SteelyardError):
    """No measure of that name, or a parameter that the measure does not take."""


class UndefinedValue(SteelyardError):
    """A measure is undefined on these data, and the user asked for an error in that case."""


class NoThreshold(SteelyardError):
    """No threshold does what was asked for."""

    exit_code = FAILED  # an answer, not a mistake


class StraddlingGroups(SteelyardError):
    """Rows of a group stand on both sides of a split."""


class FailedFits(SteelyardError):
    """No classifier could be fitted."""


class UnknownModel(SteelyardError):
    """No classifier of that name in the comparison."""


class UnknownPart(SteelyardError, KeyError):
    """No part of the data of that name."""

    __str__ = ValueError.__str__  # a KeyError would put its message into quotes


class BadOption(SteelyardError):
    """An option has a value outside its range."""


class UnknownOption(SteelyardError, TypeError):
    """A function has no option of that name, or is not given one that it needs."""


class UnreadableFile(SteelyardError):
    """A file that cannot be found or read as what it claims to be."""


class TooLarge(SteelyardError):
    """A table that would not fit into memory."""

    exit_code = UNFINISHED


class LostWorker(SteelyardError):
    """Workers ended before their work was done, or could not be started: for want of memory, most often."""

    exit_code = UNFINISHED


class BadFilter(SteelyardError):
    """A row filter that cannot be read, or does not go with the columns."""


class UnwritableFile(SteelyardError):
    """A file that cannot be written, or that holds something else than what would replace it."""


class FailedWrite(UnwritableFile):
    """A file that could not be written to the end, such as on a full disk."""

    exit_code = UNFINISHED


class ForeignFile(SteelyardError):
    """A file that is no tally or scaling of steelyard, or one of a version that this release does not know."""


class DamagedFile(SteelyardError):
    """A tally or scaling whose content does not match its checksum, or that no rows can have left."""


class UnlikeTallies(SteelyardError):
    """Two tallies over different scales or classifiers cannot be added."""


class OverlappingTallies(SteelyardError):
    """Two tallies count the same rows, which would count twice in their sum."""


def refuse_length(name: str, length: int, right: int, other: str) -> None:
    """Say so where a column has another length than the one that it stands beside."""
    if length != right:
        raise UnequalLengths(
            f"{length} rows, but {quoted(other)} has {right}", column=name, mend="Every column needs one value a row"
        )


@contextmanager
def foreign(what: object, mend: str) -> Iterator[None]:
    """Tell what a user's own function or estimator raises as an error about what was handed in."""
    try:
        yield
    except SteelyardError:
        raise
    except Exception as error:  # a foreign object may raise anything
        raise BadOption(f"{quoted(what)} fails ({quoted(error, LONG)})", mend=mend) from error
