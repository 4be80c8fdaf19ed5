"""Where data come from: data frames of any make, and CSV, Parquet and Arrow files. All become Arrow columns."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .errors import DuplicateColumns, EmptyInput, UnboundClasses, UnknownColumn, UnreadableFile, quoted
from .scale import Label, Scale, listed

# What spreadsheets and R write for "nothing here".
NULLS = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"]


def is_frame(value: Any) -> bool:
    """Tell a table with named columns from an array."""
    return hasattr(value, "__arrow_c_stream__") and (hasattr(value, "columns") or hasattr(value, "column_names"))


def is_path(value: Any) -> bool:
    """Tell the name of a file from data."""
    return isinstance(value, str | Path)


def read(source: Any) -> Any:
    """Bring a data frame or the files that a path or pattern names into one Arrow table."""
    import pyarrow as pa

    if is_frame(source):
        return source if isinstance(source, pa.Table) else pa.table(source)
    if not is_path(source):
        raise UnreadableFile(
            f"{quoted(type(source).__name__)} is neither a data frame nor a path",
            mend="Pass a pandas, polars, pyarrow or duckdb table, or the name of a file",
        )
    paths = _paths(str(source))
    tables = [_read_file(path) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        if table.column_names != tables[0].column_names:
            raise UnreadableFile(
                f"{quoted(path.name)} has other columns than {quoted(paths[0].name)}",
                mend="Files that are read together need the same columns",
            )
    return tables[0] if len(tables) == 1 else _join(paths, tables)


def _paths(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_file():
        return [path]
    # Path.glob refuses absolute patterns; glob.glob takes both.
    found = sorted(Path(name) for name in glob.glob(pattern, recursive=True) if Path(name).is_file())  # noqa: PTH207
    if not found:
        raise UnreadableFile(f"no file {quoted(pattern)}", mend="Check the name and the folder")
    return found


def _join(paths: Sequence[Path], tables: Sequence[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
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
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UnreadableFile(
            f"{quoted(path.name)} ends in none of {', '.join(readers)}",
            mend="Give the file the ending of what it is",
        )
    try:
        return reader(path)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(
            f"{quoted(path.name)} cannot be read as {path.suffix.lower()[1:]}",
            mend=quoted(str(error), 200),
        ) from None


def _read_csv(path: Path) -> Any:
    from pyarrow import csv

    with path.open("rb") as file:
        header = file.readline(1 << 20)
    if not header.strip():
        raise EmptyInput(f"{quoted(path.name)} is empty", mend="The first line names the columns")
    delimiter = max([b",", b";", b"\t", b"|"], key=header.count).decode()
    return csv.read_csv(
        path,
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(null_values=NULLS, strings_can_be_null=True),
    )


def _read_parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path).read()


def _read_arrow(path: Path) -> Any:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        try:
            return pa.ipc.open_file(file).read_all()
        except pa.ArrowInvalid:
            file.seek(0)
            return pa.ipc.open_stream(file).read_all()


def column(table: Any, name: str) -> Any:
    """Take one column by its name, and by nothing else."""
    held = Counter(table.column_names)[name]
    if held == 0:
        near = get_close_matches(name, table.column_names, n=1)
        raise UnknownColumn(
            f"there is no column {quoted(name)}",
            mend=f"Did you mean {quoted(near[0])}?" if near else f"There are {listed(table.column_names)}",
        )
    if held > 1:
        raise DuplicateColumns(f"{held} columns are called {quoted(name)}", mend="Rename all but one")
    return table.column(name)


def membership_columns(table: Any, wanted: Any) -> dict[str, str]:
    """Find the membership columns: {class name as text: column}.

    ``wanted`` is a pattern with one star, which stands for the class name; a list of columns, named after their
    classes or after their classes with one common beginning and ending; or a mapping from class to column.
    """
    if isinstance(wanted, Mapping):
        return {str(label): str(name) for label, name in wanted.items()}
    if isinstance(wanted, str):
        before, _, after = wanted.partition("*")
        names = [name for name in table.column_names if fnmatchcase(name, wanted)]
        if not names:
            raise UnknownColumn(f"no column matches {quoted(wanted)}", mend=f"There are {listed(table.column_names)}")
        return {name[len(before) : len(name) - len(after)]: name for name in names}
    return {str(name): str(name) for name in wanted}


def bind(names: Mapping[str, Any], scale: Scale) -> list[Any]:
    """Order what was found under class names by the classes of the scale; refuse anything less than one to one."""
    by_text: dict[str, Label] = {str(label): label for label in scale.classes}
    texts = _strip_common(list(names), by_text)
    missing = [label for text, label in by_text.items() if text not in texts]
    extra = [texts[text] for text in texts if text not in by_text]
    if missing or extra:
        problem = [f"class {quoted(label)} has no membership column" for label in missing[:1]]
        problem += [f"column {quoted(name)} belongs to no class" for name in extra[:1]]
        raise UnboundClasses(
            " and ".join(problem),
            mend=f"Classes are {listed(scale.classes)}; bind them by name: {{class: column}}",
        )
    return [names[texts[text]] for text in by_text]


def _strip_common(names: list[str], classes: Mapping[str, Any]) -> dict[str, str]:
    """Map class text to the name it stands under, taking off one beginning and ending that all names share."""
    exact = {name: name for name in names}
    if not names or set(exact) == set(classes):
        return exact
    for name in names:
        for text in classes:
            place = name.find(text)
            if place < 0:
                continue
            before, after = name[:place], name[place + len(text) :]
            stripped = {
                other[len(before) : len(other) - len(after)]: other
                for other in names
                if other.startswith(before) and other.endswith(after)
            }
            if set(stripped) == set(classes) and len(names) == len(classes):
                return stripped
    return exact
