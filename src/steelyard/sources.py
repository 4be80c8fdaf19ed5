"""Where data come from: data frames of any make, and CSV, Parquet and Arrow files. All become Arrow columns."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .columns import read_frame, refuse_twice
from .errors import (
    BadOption,
    DuplicateColumns,
    EmptyInput,
    SteelyardError,
    UnboundClasses,
    UnknownColumn,
    UnreadableFile,
    quoted,
)
from .scale import Scale, listed, plain_label

if TYPE_CHECKING:
    from pathlib import Path

# What spreadsheets and R write for "nothing here".
NULLS = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"]
LONG = 300  # a path is known by its end, which must be seen
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def read(source: Any) -> Any:
    """Bring a data frame or the files that a path or pattern names into one Arrow table."""
    if hasattr(source, "__arrow_c_stream__"):
        return read_frame(source)
    if not isinstance(source, str | os.PathLike):
        raise UnreadableFile(
            f"a {type(source).__name__} is neither a data frame nor a path",
            mend="Pass a pandas, polars, pyarrow or duckdb table, or the name of a file; collect a lazy frame first",
        )
    paths = _paths(os.fspath(source))
    tables = [_read_file(path) for path in paths]
    return tables[0] if len(tables) == 1 else _join(paths, tables)


# --- files ----------------------------------------------------------------------------------------------------


def _paths(pattern: str) -> list[Path]:
    import glob
    from pathlib import Path

    try:
        path = Path(pattern)
        if path.is_file():
            return [path]
        # Path.glob refuses absolute patterns; glob.glob takes both.
        found = sorted(Path(name) for name in glob.glob(pattern, recursive=True) if Path(name).is_file())  # noqa: PTH207
        folder = path.is_dir()
    except (OSError, ValueError, TypeError) as error:
        raise UnreadableFile(f"{quoted(pattern, LONG)} is no name of a file", mend=quoted(str(error), 120)) from None
    if not found:
        mend = "It is a folder: name the files in it, as in 'folder/*.parquet'" if folder else "Check name and folder"
        raise UnreadableFile(f"there is no file {quoted(pattern, LONG)}", mend=mend)
    return found


def _join(paths: Sequence[Path], tables: Sequence[Any]) -> Any:
    import pyarrow as pa

    names = tables[0].column_names
    for path, table in zip(paths, tables, strict=True):
        if sorted(table.column_names) != sorted(names):
            raise UnreadableFile(
                f"{quoted(path.name)} has other columns than {quoted(paths[0].name)}",
                mend="Files that are read together need the same columns",
            )
    refuse_twice(names)
    try:
        return pa.concat_tables([table.select(names) for table in tables], promote_options="permissive")
    except pa.ArrowException as error:
        raise UnreadableFile(
            f"{quoted(paths[0].name)} and the files with it hold different kinds of values",
            mend=quoted(str(error), 200),
        ) from None


def _read_file(path: Path) -> Any:
    import pyarrow as pa

    readers = {
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".txt": _read_csv,
        ".parquet": _read_parquet,
        ".arrow": _read_arrow,
        ".feather": _read_arrow,
    }
    ending = path.suffix.lower()
    if ending not in readers:
        raise UnreadableFile(
            f"{quoted(path.name)} ends in none of {', '.join(readers)}", mend="Give the file the ending of what it is"
        )
    try:
        table = readers[ending](path)
        # Arrow trusts offsets and text as they stand in a file; a damaged one must not get further.
        table.validate(full=True)
    except SteelyardError:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise UnreadableFile(
            f"{quoted(path.name)} cannot be read as {ending[1:]}", mend=f"It may be damaged: {quoted(str(error), 200)}"
        ) from None
    return table


def _read_csv(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    header = _header(path)
    delimiter = max([b",", b";", b"\t", b"|"], key=re.sub(b'"[^"]*"', b"", header).count).decode()
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)

    def attempt(types: Mapping[str, Any], options: Any = None) -> Any:
        convert = csv.ConvertOptions(null_values=NULLS, strings_can_be_null=True, column_types=types)
        return csv.read_csv(path, options, parse, convert)

    whole = csv.ReadOptions(block_size=min(path.stat().st_size + 1, 2**31 - 1), use_threads=False)
    try:
        table, options = attempt({}), None
    except pa.ArrowInvalid:
        # The kind of a column is judged by the first megabyte; judge by all of it before giving up.
        table, options = attempt({}, whole), whole
    _refuse_undecoded(path, table)
    # A date in a text file is text: as such it can name a part of the data or a cluster.
    dates = {field.name: pa.string() for field in table.schema if pa.types.is_temporal(field.type)}
    return attempt(dates, options) if dates else table


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        header = file.readline(1 << 20)
    if header.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableFile(f"{quoted(path.name)} is in UTF-16", mend="Save it in UTF-8")
    if not header.removeprefix(b"\xef\xbb\xbf").strip():
        raise EmptyInput(f"{quoted(path.name)} has nothing in its first line", mend="The first line names the columns")
    try:
        header.decode()
    except UnicodeDecodeError:
        raise UnreadableFile(
            f"the first line of {quoted(path.name)} is not in UTF-8", mend="Save it in UTF-8"
        ) from None
    return header


def _refuse_undecoded(path: Path, table: Any) -> None:
    """Name the first text that is not in UTF-8: Arrow keeps such columns as bytes."""
    import pyarrow as pa

    for field, column in zip(table.schema, table.columns, strict=True):
        for row, value in enumerate(column.to_pylist() if pa.types.is_binary(field.type) else ()):
            if value is not None and value.decode(errors="ignore").encode() != value:
                raise UnreadableFile(
                    f"{quoted(value)} in {quoted(path.name)} is not in UTF-8",
                    column=field.name,
                    row=row,
                    mend="Save the file in UTF-8 (it may be in Latin-1 or Windows-1252)",
                )


def _read_parquet(path: Path) -> Any:
    from pyarrow import parquet

    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read()


def _read_arrow(path: Path) -> Any:
    import pyarrow as pa

    content = path.read_bytes()
    if content.startswith(b"ARROW1"):
        return pa.ipc.open_file(content).read_all()
    if not content.endswith(END_OF_STREAM):
        raise UnreadableFile(f"{quoted(path.name)} is no Arrow file, or cut off", mend="Write the file anew")
    return pa.ipc.open_stream(content).read_all()


# --- columns of a table ---------------------------------------------------------------------------------------


def column(table: Any, name: str) -> Any:
    """Take one column by its name, and by nothing else."""
    names = table.column_names
    held = names.count(name) if isinstance(name, str) else 0
    if held == 0:
        from difflib import get_close_matches

        near = get_close_matches(name, names, n=1) if isinstance(name, str) else []
        raise UnknownColumn(
            f"there is no column {quoted(name)}",
            mend=f"Did you mean {quoted(near[0])}?" if near else f"There are {listed(names) or 'none'}",
        )
    if held > 1:
        raise DuplicateColumns(f"{held} columns are called {quoted(name)}", mend="Rename all but one")
    return table.column(name)


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


def _matching(names: Sequence[str], pattern: str) -> dict[str, str]:
    before, star, after = pattern.partition("*")
    if not star or "*" in after:
        raise BadOption(f"{quoted(pattern)} is no pattern", mend="One star stands for the class name: 'p_*'")
    least = len(before) + len(after)
    found = [name for name in names if name.startswith(before) and name.endswith(after) and len(name) >= least]
    if not found:
        raise UnknownColumn(f"no column matches {quoted(pattern)}", mend=f"There are {listed(names)}")
    refuse_twice(found)
    return {name[len(before) : len(name) - len(after)]: name for name in found}


def bind(names: Sequence[str], scale: Scale) -> list[int]:
    """Find the place of every class among names; refuse anything less than one to one."""
    texts = [str(label) for label in scale.classes]
    stripped = _strip_common(names, texts)
    missing = [text for text in texts if text not in stripped]
    extra = [name for text, name in zip(stripped, names, strict=True) if text not in texts]
    if missing or extra or len(names) != len(texts):
        problem = [f"class {quoted(text)} has no membership column" for text in missing[:1]]
        problem += [f"column {quoted(name)} belongs to no class" for name in extra[:1]]
        raise UnboundClasses(
            " and ".join(problem) or "two membership columns belong to one class",
            mend=f"Classes are {listed(scale.classes)}; bind them by name: {{class: column}}",
        )
    return [stripped.index(text) for text in texts]


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
