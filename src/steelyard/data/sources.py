"""Where data come from: data frames of any make, and files. All become Arrow columns."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.columns import read_frame, refuse_twice
from ..core.errors import BadOption, DuplicateColumns, UnboundClasses, UnknownColumn, UnreadableFile, quoted
from ..core.scale import Scale, listed, plain_label, same_number
from ..core.suggestions import did_you_mean
from .shards import Batch, filtered, without_views
from .spelling import NumberMarks, Uses
from .streams import Files, Loaded, check_marks
from .where import Filter, check_column

__all__ = ["Batch", "Files", "Loaded", "bind", "column", "load", "membership_columns", "opened", "read"]

MOST_LOOKED_AT = 100  # names and classes: so many tell what columns are called, and somebody waits for the message


def read(source: Any, where: str | None = None) -> Any:
    """Bring a data frame or the files that a path or pattern names into one Arrow table."""
    return load(source, where).table


def load_named(path: Any, marks: NumberMarks | None = None) -> Loaded:
    """Read a file whose first column holds names: of a text file, these are what stands in their cells."""
    files = opened(path, marks=marks)
    return load(files, uses=Uses(parts=tuple(files.column_names[:1])))


def load(
    source: Any,
    where: str | None = None,
    columns: Sequence[str] | None = None,
    uses: Uses | None = None,
    marks: NumberMarks | None = None,
) -> Loaded:
    """The same, and where the rows come from; columns of text files are read as what they are used for."""
    if not hasattr(source, "__arrow_c_stream__"):
        files = opened(source, where, marks)
        return (files if uses is None else replace(files, uses=uses)).load(columns)
    check_marks(marks, text=False)
    table = read_frame(source)
    rows = Batch(table)
    if where is not None:
        table = without_views(table)
        rows = filtered(Batch(table), Filter.read(where))
    return Loaded(rows.table, (rows,))


def opened(source: Any, where: str | None = None, marks: NumberMarks | None = None) -> Files:
    """The files that a path or pattern names, with nothing read of them yet."""
    if isinstance(source, Files):
        return source
    if not isinstance(source, str | os.PathLike):
        table = "Make a table of it, as pandas.DataFrame(...) does"
        usual = "Pass a pandas, polars, pyarrow or duckdb table, or the name of a file; collect a lazy frame first"
        raise UnreadableFile(
            f"a {type(source).__name__} is neither a data frame nor a path",
            mend=table if isinstance(source, dict | list | tuple) or hasattr(source, "dtype") else usual,
        )
    return Files.of(source, where, marks)


# --- columns of a table ---------------------------------------------------------------------------------------


def column(table: Any, name: str) -> Any:
    """Take one column by its name, and by nothing else."""
    # Not by the list of all names: Arrow would make it anew for every one of many columns.
    try:
        places = table.schema.get_all_field_indices(name) if isinstance(name, str) else []
    except UnicodeEncodeError:  # no column can be called so
        places = []
    if not places:
        check_column(name, table.column_names)
    if len(places) > 1:
        raise DuplicateColumns(f"{len(places)} columns are called {quoted(name)}", mend="Rename all but one")
    return table.column(places[0])


def membership_columns(table: Any, wanted: Any) -> dict[str, str]:
    """Find the membership columns: {class name as text: column}.

    ``wanted`` is a pattern with one star, which stands for the class name; a list of columns, named after their
    classes or after their classes with one common beginning and ending; or a mapping from class to column.
    """
    if isinstance(wanted, str):
        return _matching(table.column_names, wanted)
    given = [(str(plain_label(label)), name) for label, name in wanted.items()] if isinstance(wanted, Mapping) else []
    pairs = given or [(name, name) for name in wanted]
    for place, (text, name) in enumerate(pairs):
        column(table, name)
        if any(text == other or name == same for other, same in pairs[:place]):
            raise UnboundClasses(
                f"class {quoted(text)} or column {quoted(name)} is named twice", mend="Give every class its own column"
            )
    return dict(pairs)


def _patterns(names: Sequence[str]) -> list[str]:
    """The patterns by which columns could have been meant: what several begin with, up to an underscore."""
    heads = [f"{head}_*" for head, line, _ in (name.rpartition("_") for name in names) if line]
    return [pattern for pattern in dict.fromkeys(heads) if heads.count(pattern) > 1]


def _matching(names: Sequence[str], pattern: str) -> dict[str, str]:
    before, star, after = pattern.partition("*")
    if not star or "*" in after:
        raise BadOption(f"{quoted(pattern)} is no pattern", mend="One star stands for the class name: 'p_*'")
    least = len(before) + len(after)
    found = [name for name in names if name.startswith(before) and name.endswith(after) and len(name) >= least]
    if not found:
        mend = did_you_mean(pattern, _patterns(names), f"There are {listed(names)}")
        raise UnknownColumn(f"no column matches {quoted(pattern)}", mend=mend)
    refuse_twice(found)
    return {name[len(before) : len(name) - len(after)]: name for name in found}


def bind(names: Sequence[str], scale: Scale, headings: Sequence[str] = ()) -> list[int]:
    """Find the place of every class among names; refuse anything less than one to one.

    Headings are what the columns are called where they come from, for messages.
    """
    (texts, names), (_, headings) = _spelled(names, scale), _spelled(headings, scale)
    stripped = _strip_common(names, texts)
    if len(names) != len(texts) or set(stripped) != set(texts):
        told = max(headings or names, names, key=lambda some: _ends(some, texts)[0])
        raise _unbound(told, texts, f"Classes are {listed(scale.classes)}")
    places = {name: place for place, name in enumerate(stripped)}
    return [places[text] for text in texts]


def place_of(name: str, scale: Scale) -> int | None:
    """The place of the class that a name is that of."""
    texts, names = _spelled([name], scale)
    if names[0] not in texts and (same := same_number(name, scale.classes)) is not None:
        return scale.classes.index(same)
    return texts.index(names[0]) if names[0] in texts else None


def _spelled(names: Sequence[str], scale: Scale) -> tuple[list[str], list[str]]:
    """Classes and names as text; every language has other capitals for true and false."""
    texts = [str(label) for label in scale.classes]
    if all(isinstance(label, bool) for label in scale.classes):
        return [text.lower() for text in texts], [name.lower() for name in names]
    return texts, list(names)


def _unbound(names: Sequence[str], texts: Sequence[str], classes: str) -> UnboundClasses:
    """Say which class and which column are the odd ones, by how most of the columns are called."""
    _, before, after = _ends(names, texts)
    called = {text: f"{before}{text}{after}" for text in texts}
    missing = [text for text, name in called.items() if name not in names]
    extra = [name for name in names if name not in called.values()]
    problem = [f"class {quoted(text)} has no membership column" for text in missing[:1]]
    problem += [f"column {quoted(name)} belongs to no class" for name in extra[:1]]
    mend = "bind them by name: {class: column}"
    if missing:
        name = quoted(called[missing[0]])
        mend = f"call its column {name}, or {mend}" if extra else f"give it one too, such as {name}"
    elif extra:
        mend = "name all of them: scale=Scale([...]), or leave it out"
    problems = " and ".join(problem) or "two membership columns belong to one class"
    return UnboundClasses(problems, mend=f"{classes}; {mend}")


def _ends(names: Sequence[str], texts: Sequence[str]) -> tuple[int, str, str]:
    """With how many names there is a class between the same beginning and ending, and these: those of most names."""
    counts = Counter(
        (name[:start], name[start + len(text) :])
        for name in names[:MOST_LOOKED_AT]
        for text in texts[:MOST_LOOKED_AT]
        for start in range(len(name) - len(text) + 1)
        if name.startswith(text, start)
    )
    return max(((count, *ends) for ends, count in counts.items()), key=lambda each: each[0], default=(0, "", ""))


def _strip_common(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Take off one beginning and ending that all names share, where that leaves the class names."""
    surplus, rest = divmod(sum(map(len, names)) - sum(map(len, texts)), len(texts))
    if len(names) == len(texts) and rest == 0 and 0 <= surplus <= min(map(len, names)):
        for size in range(surplus + 1):
            before, after = names[0][:size], names[0][len(names[0]) - surplus + size :]
            stripped = [name[size : len(name) - len(after)] for name in names]
            shared = all(name.startswith(before) and name.endswith(after) for name in names)
            if shared and set(stripped) == set(texts):
                return stripped
    return list(names)
