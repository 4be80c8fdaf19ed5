"""Text comes before or after other text by its letters: where that is the order of days, times and numbers."""

from __future__ import annotations

import re

from ..core.errors import BadFilter, quoted

WRITTEN_IN_DIGITS = re.compile(r"\d[\d.,:/TZ +-]*", re.ASCII)
# What two texts must have in common so that letters order the rest: years and months, hours, digits before a point.
BEGINNING = re.compile(r"\d{4}[-./]\d\d|\d\d?:\d\d|\d+", re.ASCII)
DAY_BEFORE_YEAR = r"^[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})([^0-9]|$)"
AS_DAYS = "Write days as in '2024-12-31', in the column too"


def form_of(text: str, column: str) -> str | None:
    """What texts look like that are in the order of the days, times or numbers that they stand for, as this one is.

    None where letters are meant.
    """
    if not WRITTEN_IN_DIGITS.fullmatch(text):
        return None
    if re.match(DAY_BEFORE_YEAR, text):
        raise BadFilter(f"days like {quoted(text)} are not in the order of their letters", column=column, mend=AS_DAYS)
    found = BEGINNING.match(text)
    shown = re.sub("[0-9]", "[0-9]", re.escape(found[0])) if found else ""
    decimal = re.fullmatch(r"\d+\.\d*", text, re.ASCII)
    return f"^{shown}(\\.|$)" if decimal else f"^{shown}([^0-9]|$)"


def out_of_order(value: str, column: str, against: str, row: int, file: str | None) -> BadFilter:
    """What to say of a text that letters do not put where it is meant to be."""
    if re.match(DAY_BEFORE_YEAR, value):
        problem, mend = f"days like {quoted(value)} are not in the order of their letters", AS_DAYS
    else:
        problem = f"{quoted(value)} has not the form of {against}, and text is ordered letter by letter"
        name = column if column.isidentifier() else f"`{column}`"
        mend = f"Write all values of it in that form, or leave such rows out: {name} != {quoted(value)} and ..."
    return BadFilter(problem, file=file, column=column, row=row, mend=mend)
