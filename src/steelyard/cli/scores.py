"""Columns that a user calls scores: taken as such whatever their numbers look like; a word among them is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.columns import DECIMAL_SIGNS, DECIMALS, first_word
from ..core.errors import BadOption, NotNumbers, SteelyardError, quoted
from ..core.scale import Label
from ..data import sources
from ..data.shards import Batch
from .words import columns, kind_in


def refuse_no_probabilities(score: str | None) -> None:
    """Refuse scores on any scale where nothing but probabilities will do."""
    if score is not None:
        raise BadOption(
            "calibration is of probabilities, and --score is on any scale",
            mend=f"Say --membership {score}, if these are probabilities; thresholds and assess take --score",
        )


def either(membership: str | None, score: str | None, there: Sequence[str]) -> str:
    """The columns of probabilities or those of scores, whichever were named; else an error that says what is there."""
    named = [text for text in (membership, score) if text is not None]
    if len(named) == 1:
        return named[0]
    problem = "both --membership and --score are given" if named else "no column of scores is named"
    mend = "Give --score COLUMN of scores on any scale, or --membership of probabilities"
    raise BadOption(problem, mend="; ".join([mend, *([] if named else there)]))


def scores_in(source: Any, membership: str | None, event: Label | None, measured: bool = False) -> Any:
    """The columns of scores; one alone speaks for the event, or on a measured truth may be a value."""
    import pyarrow as pa

    named = columns(membership)
    if not isinstance(named, str) or "*" in named or (measured and event is None):
        return named
    if pa.types.is_floating(kind_in(source, named)):  # these are told from labels by themselves, with better messages
        return named
    return [named] if event is None else {event: named}


@contextmanager
def words_told(source: Any) -> Iterator[None]:
    """Where a column must hold numbers and does not, name the first word in it, with its file and row."""
    try:
        yield
    except NotNumbers as error:
        for decimal in DECIMAL_SIGNS:
            for batch in _batches(source, error.column):
                _refuse_words(batch, str(error.column), decimal)
        raise


def _batches(source: Any, column: str | None) -> Iterator[Batch]:
    """The rows of one column; none where that is no column of the data."""
    if column is None or column not in source.column_names:
        return iter(())
    return source.batches([column]) if isinstance(source, sources.Files) else iter([Batch(source.select([column]))])


def _refuse_words(batch: Batch, name: str, decimal: str) -> None:
    found = first_word(batch.table.column(name).to_pylist(), decimal)
    if found is not None:
        row, word = found
        error: SteelyardError = NotNumbers(f"{quoted(word)} is no number", column=name, row=row, mend=_mend(word))
        raise batch.locate(error) from None


def _mend(word: str) -> str:
    if word.rstrip().endswith("%"):
        return "Write shares instead of per cent: 0.12, not 12%"
    if "," in word:
        return DECIMALS
    return "Give numbers; only the labels that a model assigned go with --assigned"
