"""The columns of a table that classifiers learn from, as numbers: words become columns of 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from ..core.columns import numbers
from ..core.errors import BadOption, UnknownColumn, quoted
from ..core.scale import listed
from ..core.suggestions import did_you_mean
from ..data.sources import column
from .labels import encode

if TYPE_CHECKING:
    from ..core.typing import Array

MOST_WORDS = 20  # beyond, words are names rather than kinds
FEW_ROWS = 20  # so few may have different numbers by chance
MEND = "Say --missing drop, or take classifiers that do without: tree, forest, boosting"

NAMES: Final = "names of rows"
NEITHER: Final = "neither"
KINDS = f"2 to {MOST_WORDS} words"
Kind = Literal["numbers", "words", "names of rows", "neither"]


def choose(table: Any, aside: Sequence[str], wanted: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The columns to learn from: those that are named, or all that can be; and what there is to know about them.

    Args:
        table: An Arrow table.
        aside: Columns that say something else.
        wanted: Names of columns, or patterns with stars.
    """
    kinds = {name: _kind(table, name) for name in table.column_names if name not in aside}

    def those(*wanted_kinds: Kind) -> list[str]:
        return [name for name, kind in kinds.items() if kind in wanted_kinds]

    if wanted is None:
        found = those("numbers", "words")
    else:
        found = list(dict.fromkeys(name for pattern in wanted for name in _matching(pattern, list(kinds))))
    for name in found:
        if kinds[name] == NEITHER:
            raise BadOption(f"neither numbers nor {KINDS}", column=name, mend="Leave it out of --features")
    if not found:
        raise BadOption("there is no column to learn from", mend="Name them: --features 'x*'")
    coded = [name for name in found if kinds[name] == "words"]
    told = {"learned from as 0 and 1, one column for each word but the first: {}": coded}
    if wanted is None:
        different = [name for name in those("numbers") if _all_different(table, name)]
        told = {
            "taken for names of rows, and not learned from unless --features says so: {}": those(NAMES),
            f"neither numbers nor {KINDS}, and not learned from: {{}}": those(NEITHER),
            **told,
            "another whole number in every row, as names of rows have: {}; see --features": different,
        }
    return found, [words.format(listed(names, 5)) for words, names in told.items() if names]


def _matching(pattern: str, names: Sequence[str]) -> list[str]:
    stars_alone = pattern.replace("[", "[[]").replace("?", "[?]")  # units stand in brackets: 'water [%]'
    matching = [name for name in names if fnmatchcase(name, stars_alone)]
    if not matching:
        mend = did_you_mean(pattern, names, f"There are {listed(names, 10)}")
        raise UnknownColumn(f"no column is called {quoted(pattern)}", mend=mend)
    return matching


def _kind(table: Any, name: str) -> Kind:
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    values = column(table, name)
    kind = values.type
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    if kinds.is_integer(kind) and _all_different(table, name):
        ends = pc.min_max(values).as_py()
        return NAMES if ends["max"] - ends["min"] == table.num_rows - 1 else "numbers"
    if any(holds(kind) for holds in (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean)):
        return "numbers"
    return "words" if _is_text(table, name) and 2 <= pc.count_distinct(values).as_py() <= MOST_WORDS else NEITHER


def _is_text(table: Any, name: str) -> bool:
    import pyarrow.types as kinds

    kind = table.schema.field(name).type
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    return any(holds(kind) for holds in (kinds.is_string, kinds.is_large_string, kinds.is_string_view))


def _all_different(table: Any, name: str) -> bool:
    """Whether every row has a whole number of its own."""
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if not kinds.is_integer(table.schema.field(name).type) or table.num_rows <= FEW_ROWS:
        return False
    return bool(pc.count_distinct(table.column(name)).as_py() == table.num_rows)


def matrix(table: Any, names: Sequence[str]) -> tuple[Array, list[str]]:
    """Columns as numbers, (rows, variables), and what the variables are called; what is missing is NaN."""
    found: dict[str, Array] = {}
    for name in names:
        values = column(table, name)
        if not _is_text(table, name):
            found[name] = numbers(values, name).astype(np.float64)
            continue
        coded = encode(values, name)
        for code, label in enumerate(coded.labels[1:], 1):
            found[f"{name}={label}"] = np.where(coded.missing(), np.nan, coded.codes == code)
    return np.stack([*found.values()] or [np.zeros(table.num_rows)], axis=1), list(found)
