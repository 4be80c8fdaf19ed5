"""From what a user names to checked rows: arrays as they are, columns out of frames and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..core.columns import is_listed, read_frame
from ..core.errors import BadOption, SteelyardError, UnknownColumn, WrongShape, quoted
from ..core.scale import Continuum, Scale
from ..data import sources
from ..data.digests import Origin
from ..data.paths import File
from ..data.spelling import NumberMarks, Uses, is_spelled_apart
from ..data.streams import Files, check_marks
from .dataset import Dataset, Knowledge
from .labels import encode
from .membership import numbers
from .misreadings import BY_POSITION, refuse_misaligned
from .prediction import Prediction, scored
from .remarks import Remark, joined, on_passed
from .validate import Validator


@dataclass(frozen=True)
class Request:
    """Which columns hold what, and which rows count.

    Attributes:
        truth: The column of true labels; None where arrays are given.
        models: The columns of each classifier.
        validator: The options under which rows are checked; weight, group and by may be names of columns.
        where: Which rows count.
        marks: What marks numbers in text files have, where that was said.
    """

    truth: str | None
    models: Mapping[str, Any]
    validator: Validator
    where: str | None = None
    marks: NumberMarks | None = None

    def validate(self, y_true: Any, predictions: Mapping[str, Any] | None) -> Dataset:
        """Let arrays in as they are; take columns out of frames and files first."""
        by_position = "pandas" in sys.modules and self._refuse_misaligned(y_true, predictions)
        if predictions is None:
            dataset = self._columns(y_true)
        else:
            if self.marks is not None:
                check_marks(self.marks, text=False)
            for name, value in (("truth", self.truth), ("where", self.where)):
                if value is not None:
                    mend = "Leave it out, or give a frame"
                    raise BadOption(f"{name}= names a column, but arrays were given", mend=mend)
            dataset = self.validator.validate(y_true, predictions)
        return replace(dataset, remarks={**dataset.remarks, BY_POSITION: len(dataset)}) if by_position else dataset

    def _refuse_misaligned(self, y_true: Any, predictions: Mapping[str, Any] | None) -> bool:
        """Compare the indexes of all columns of pandas; whether some rows were matched by position instead."""
        beside: dict[str, Any] = {name: getattr(self.validator, name) for name in ("weight", "group", "by")}
        return refuse_misaligned(y_true, beside | vars(self.validator.knowledge), predictions or {})

    def _columns(self, source: Any) -> Dataset:
        if self.truth is None:
            raise BadOption(
                "there is no prediction",
                mend="assess(y_true, prediction), or assess(frame, truth='column', assigned='column')",
            )
        self._check_columns_named()
        loaded = sources.load(source, self.where, self._needed(source), self.uses, self.marks)
        try:
            dataset = self.validate_table(loaded.table)
        except SteelyardError as error:
            raise loaded.locate(error) from None
        origin = Origin(loaded.sources, self.columns_read(loaded.table, dataset.scale))
        dataset = replace(dataset, origin=origin, remarks=joined(dataset.remarks, on_passed(loaded.passed)))
        if loaded.places is None:
            return dataset
        return replace(dataset, kept=loaded.places if dataset.kept is None else loaded.places[dataset.kept])

    def validate_table(
        self, table: Any, validator: Validator | None = None, forms: Mapping[str, bool] | None = None
    ) -> Dataset:
        """Take the columns out of a table and check its rows; which classifiers gave labels may be known."""
        validator, chosen, names = self.validator if validator is None else validator, {}, {"truth": str(self.truth)}
        for what in ("weight", "group", "by"):
            value = getattr(validator, what)
            if isinstance(value, str):
                chosen[what], names[what] = sources.column(table, value), value
            elif what == "by" and _are_names(value):
                chosen[what] = {name: sources.column(table, name) for name in value}
        known, names = _known_columns(table, validator.knowledge), {**names, **validator.knowledge.named}
        truth, columns = self.taken(lambda name: sources.column(table, name), table)
        for name, labels in () if forms is None else forms.items():
            if name in self.headings:
                columns[name] = _of_form(columns[name], self.headings[name], labels=labels)
        dataset = replace(validator, names=names, headings=self.headings, knowledge=known, **chosen).validate(
            truth, columns
        )
        apart = {Remark("whole_number", one.name): len(dataset) for one in table.schema if is_spelled_apart(one)}
        return replace(dataset, remarks=joined(dataset.remarks, apart)) if apart else dataset

    def taken(self, column: Callable[[str], Any], table: Any) -> tuple[Any, dict[str, Any]]:
        """The truth and what each classifier said: single columns by a function, memberships out of a table."""
        predictions = {
            name: column(spec) if _is_column(spec) else membership_prediction(table, name, spec)
            for name, spec in self.models.items()
        }
        return column(str(self.truth)), predictions

    def columns_read(self, table: Any, scale: Scale) -> tuple[tuple[str, str], ...]:
        """Which columns of a table hold what each classifier predicted, by class where there are several."""
        found = []
        for name, spec in self.models.items():
            columns = {name: spec} if _is_column(spec) else sources.membership_columns(table, _checked(spec))
            several: Any = list(columns.values())
            with suppress(SteelyardError):
                places = sources.bind(list(columns), scale, several) if len(several) > 1 else []
                several = {
                    str(label): several[place] for label, place in zip(scale.classes, places, strict=False)
                } or several
            found.append((f"model {name}", str(several[0] if len(columns) == 1 else several)))
        return tuple(found)

    @property
    def uses(self) -> Uses:
        """What columns of text files are read as."""
        validator = self.validator
        parts = [validator.group, *(validator.by if _are_names(validator.by) else [validator.by])]
        return Uses(
            truth=None if isinstance(validator.scale, Continuum) else self.truth,
            predictions=tuple(self.headings.values()),
            parts=tuple(name for name in parts if isinstance(name, str)),
            scale=validator.scale,
            scored=frozenset(column for name, column in self.headings.items() if validator.expects_scores(name)),
        )

    @property
    def parts_are_named(self) -> bool:
        """Whether the parts of the data are columns, if there are any."""
        return self.validator.by is None or isinstance(self.validator.by, str) or _are_names(self.validator.by)

    @property
    def headings(self) -> dict[str, str]:
        """What messages call a classifier's column of labels or scores."""
        return {name: spec for name, spec in self.models.items() if isinstance(spec, str) and "*" not in spec}

    def columns_among(self, names: Sequence[str]) -> list[str]:
        """The columns that are needed, of those that there are."""
        import pyarrow as pa

        table = pa.table([pa.nulls(0)] * len(names), names=list(names))
        validator, pair = self.validator, self.validator.knowledge.response
        named = [self.truth, validator.weight, validator.group, validator.knowledge.sd, validator.knowledge.sd_response]
        for several in (validator.by, pair):
            named += list(several) if _are_names(several) else [several]
        found = [name for name in named if isinstance(name, str)]
        for spec in self.models.values():
            found += [spec] if _is_column(spec) else list(sources.membership_columns(table, _checked(spec)).values())
        for name in found:
            sources.column(table, name)
        return list(dict.fromkeys(found))

    def _needed(self, source: Any) -> list[str] | None:
        """Of files, only what is needed is read; every file must offer the same."""
        if hasattr(source, "__arrow_c_stream__"):
            return None
        return self.columns_of(sources.opened(source, self.where, self.marks))

    def columns_of(self, files: Files) -> list[str]:
        """The columns that are needed of files; a pattern must match the same in all of them."""
        wanted: list[str] = []
        for file in files.files:
            here = self.columns_in(files, file)
            check_same_columns(here, wanted, file)
            wanted = here
        return wanted

    def columns_in(self, files: Files, file: File) -> list[str]:
        """The columns that are needed of one file."""
        try:
            return self.columns_among(files.names_in(file))
        except SteelyardError as error:
            raise error.within(file.shown, None) from None

    def _check_columns_named(self) -> None:
        """A filter leaves out rows of the table, but none of an array that stands beside it."""
        beside = {"weight": self.validator.weight, "group": self.validator.group, "by": self.validator.by}
        for name, value in beside.items() if self.where is not None else ():
            if value is not None and not isinstance(value, str) and not _are_names(value):
                raise BadOption(f"where= leaves rows out, but {name}= is an array", mend="Name a column instead")


def check_same_columns(here: Sequence[str], wanted: Sequence[str], file: File) -> None:
    """A file must offer the same columns as those before it, where there were any."""
    if wanted and list(here) != list(wanted):
        odd = sorted(set(here) ^ set(wanted))[0]
        raise UnknownColumn(
            f"{quoted(odd)} is a column of some files, not of all",
            file=file.shown,
            mend="Files that are read together need the same columns",
        )


def refuse_untold(source: Any, named: bool, too: str = "") -> None:
    """Of a path, or of a frame whose columns are named, the column of the true classes must be named too."""
    if isinstance(source, str | os.PathLike | Files) or (named and hasattr(source, "columns")):
        raise BadOption("which column holds the true classes is not said", mend=f"Name it: truth='column'{too}")


def names_columns(predictions: Any) -> bool:
    """Whether predictions of classifiers are told by the names of columns."""
    values = list(predictions.values()) if isinstance(predictions, Mapping) else predictions
    return isinstance(values, list | tuple) and any(isinstance(value, str) or _are_names(value) for value in values)


def predictions_by_name(predictions: Any, of_columns: bool) -> dict[str, Any]:
    """Predictions by the names of their classifiers; columns of a frame are names already, or have them."""
    if of_columns and _are_names(predictions):
        return by_name((name, name) for name in predictions)
    if not of_columns and hasattr(predictions, "__arrow_c_stream__") and hasattr(predictions, "columns"):
        return by_name(_columns_of(predictions))
    if not isinstance(predictions, Mapping):
        raise BadOption("predictions have no names", mend="Give {name: prediction}")
    return by_name(predictions.items())


def _columns_of(frame: Any) -> Iterable[tuple[Any, Any]]:
    """The columns of a frame with their names; those of pandas keep their index, by which rows are told."""
    if hasattr(frame, "items"):
        return list(frame.items())
    table = read_frame(frame)
    return zip(table.column_names, table.columns, strict=True)


def by_name(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Classifiers by their names, as text; no two may have the same."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if str(name) in found:
            raise BadOption("two classifiers have the same name as text", mend="Give each its own name")
        found[str(name)] = value
    return found


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _is_column(spec: Any) -> bool:
    """Whether a classifier has one column of labels or scores."""
    return isinstance(spec, str) and "*" not in spec


def _checked(spec: Any) -> Any:
    if spec is None:
        raise UnknownColumn("no column holds the prediction", mend="Name assigned='column' or membership='p_*'")
    if not isinstance(spec, str | Mapping | list | tuple):
        text = f"Columns are named by text, as '{spec}'; or give" if isinstance(spec, int) else "Give"
        raise BadOption(f"{quoted(spec)} names no columns", mend=f"{text} 'p_*', a list or {{class: column}}")
    return spec


def _known_columns(table: Any, known: Knowledge) -> Knowledge:
    """Columns in the place of their names."""

    def found(name: Any) -> Any:
        return sources.column(table, name) if isinstance(name, str) else name

    pair = known.response
    return Knowledge(
        found(known.sd),
        found(known.sd_response),
        tuple(found(name) for name in pair) if isinstance(pair, tuple | list) else pair,
    )


def membership_prediction(table: Any, name: str, wanted: Any) -> Prediction:
    """What one classifier said, from the membership columns that were named for it."""
    found = sources.membership_columns(table, _checked(wanted))
    bound = isinstance(wanted, Mapping) or (isinstance(wanted, str) and "*" in wanted)
    alone = sources.column(table, next(iter(found.values()))) if len(found) == 1 else None
    if alone is not None and is_listed(alone):  # one column of all classes
        if bound:
            (label, column), *_ = found.items()
            raise WrongShape(
                f"every row holds a list, and the column is bound to one class, {quoted(label)}",
                column=column,
                mend=f"Say membership={quoted(column)}: the lists hold all classes, in the order of the scale",
            )
        return replace(scored(alone, *found.values()), name=name)
    columns = tuple(numbers(sources.column(table, column), column) for column in found.values())
    return Prediction(name, columns=columns, class_names=tuple(found), headings=tuple(found.values()), bound=bound)


def _of_form(column: Any, heading: str, *, labels: bool) -> Prediction:
    """A column as labels or as scores, whichever all rows together are."""
    if labels:
        return Prediction(heading, labels=encode(column, heading))
    return scored(column, heading)
