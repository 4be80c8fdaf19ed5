"""How rows were read, as pairs of what and how: the same facts wherever a tally is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import UnlikeTallies, quoted
from ..inputs.admission import Request

if TYPE_CHECKING:
    from ..inference.settings import Settings

Facts = tuple[tuple[str, str], ...]
GIVEN = "given as an array"
MEASURES, COST = "measures", "cost"
OF_COLUMNS = ("truth", "where")  # arrays have none of these, and may be the same


def facts_of(request: Request, columns: Facts, where: str | None, kind: str) -> dict[str, str]:
    """Return how rows are read: from which columns, by which rules; ``kind`` is that of weights."""
    door = request.door
    said: dict[str, Any] = {"truth": request.truth, "missing": door.missing, "where": where, **dict(columns)}
    said |= {"weight": _named(door.weight), "group": _named(door.group), "by": _named(door.by)}
    said |= {"weight_kind": None if door.weight is None else kind, "threshold": door.threshold}
    said |= {f"threshold of {name}": number for name, number in door.thresholds.items()}
    said |= {f"scores of {name}": "on any scale" for name in door.scores}
    said |= {} if request.marks is None else request.marks._asdict()
    known = {name: getattr(door.knowledge, name) for name in door.knowledge.said}
    said |= {name: _named(value) for name, value in known.items()}
    return {what: str(value) for what, value in said.items() if value is not None}


def asked(settings: Settings | None) -> dict[str, str]:
    """Return which measures rows are summed for, where they are not kept."""
    if settings is None:
        return {}
    every = "all" if settings.everything else str(sorted(measure.label for measure in settings.measures))
    return {MEASURES: every}


def as_pairs(facts: Mapping[str, str]) -> Facts:
    """Return facts as a tally keeps them."""
    return tuple(sorted(facts.items()))


def _named(value: Any) -> Any:
    """Names of columns and numbers as they are; of arrays, that they were given."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return list(value) if len(value) > 1 else value[0] if value else None
    return GIVEN


def refuse_other_reading(ours: Facts, theirs: Facts) -> None:
    """Name the difference between two ways of reading; what only columns have is no difference to arrays."""
    one, other = dict(ours), dict(theirs)
    if not one or not other:
        return
    columns = "truth" in one and "truth" in other
    for what in sorted({*one, *other}):
        left, right = one.get(what), other.get(what)
        loose = what in (MEASURES, COST) or (not columns and (what in OF_COLUMNS or what.startswith("model ")))
        if left == right or (loose and None in (left, right)) or (None not in (left, right) and GIVEN in (left, right)):
            continue
        raise UnlikeTallies(
            f"rows were read differently: {what} is {_said(left)} and {_said(right)}",
            mend="Make both with the same options",
        )


def of_both(ours: Facts, theirs: Facts) -> Facts:
    """Return how rows of both were read: names of columns, where only one of them knows these."""
    found = dict(theirs)
    found |= {what: value for what, value in ours if found.get(what, GIVEN) == GIVEN or value != GIVEN}
    return as_pairs(found)


def _said(value: str | None) -> str:
    return "not given" if value is None else quoted(value, 100)
