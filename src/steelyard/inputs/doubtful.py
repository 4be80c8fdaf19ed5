"""Labels that may not be meant: words for missing values, and numbers that are spelled in two ways."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..core.scale import Label, whole_number

# What NumPy, pandas, R, SQL, spreadsheets and people write for nothing, in small letters and without outer blanks.
FOR_MISSING = {
    *("", "nan", "-nan", "+nan", "none", "null", "(null)", "nil", "na", "n/a", "#n/a", "n.a.", "<na>", "nat", "\\n"),
    *("missing", "(missing)", "<missing>", "not available", "-", "--", "---", "?", "??", "???", ".", "..", "...", "_"),
    *("#ref!", "#value!", "#div/0!", "#name?", "#null!", "#num!", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
    *("\u2013", "\u2014", "undefined", "n.d.", "<null>", "<nan>", "<none>", "[null]", "na_character_"),
}
SEVERITY = "none"  # a grade before "mild", if it is not written as Python does
SIGNS = {"-", "+"}  # of a reaction, say
NUMBER = re.compile(r"\s*[-+]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][-+]?[0-9]{1,3})?\s*", re.ASCII)
HEXADECIMAL = re.compile(r"\s*-?0[xX][0-9a-fA-F]+\s*")


def words_for_missing(labels: Sequence[Label]) -> list[str]:
    """Return the labels that often stand for a missing value."""
    texts = [label for label in labels if isinstance(label, str)]
    return [text for text in texts if _is_for_missing(text) and not (text == "-" and set(texts) >= SIGNS)]


def _is_for_missing(text: str) -> bool:
    word = text.strip().lower()
    return word in FOR_MISSING and text.strip() != SEVERITY


def same_numbers(labels: Sequence[Label]) -> list[list[Label]]:
    """Return labels of text that are the same number spelled in several ways: 1E2 and 100, 1 and 1.0 and 01."""
    found: dict[float, list[Label]] = {}
    for label in labels:
        number = _number(label) if isinstance(label, str) else None
        if number is not None:
            found.setdefault(number, []).append(label)
    return [same for same in found.values() if len(same) > 1]


def _number(text: str) -> float | None:
    if (whole := whole_number(text)) is not None:
        return whole
    if HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    return float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None
