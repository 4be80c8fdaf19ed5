"""Scalings of memberships in files: JSON text with a checksum. Nothing in them is ever executed.

A file discloses the classes, how memberships are scaled, and sums over the rows of each region; no row. Of a region
with one row, the sums are that row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...core.errors import DamagedFile, ForeignFile, quoted
from ...core.scale import Scale
from ...core.table import dump
from ...data.whole_files import SCALING, read_whole, write_whole
from .fitting import Regions, RegionSums
from .space import PARAMETERS, Chosen, checked_choice

if TYPE_CHECKING:
    from .rows import Prefix
    from .scaling import Blocks

FORMAT = "steelyard partition scaling"
VERSION = 1
RULES = "Sondhauss & Weihs (2001), version 1"  # by which sums become maps: another number where results differ
LEVELS = ("left", "mean", "scatter", "low", "high")
ROUNDING = 1e-6
LEARN = "Learn the scaling again, and save it"

Made = TypeVar("Made")


def save(scale: Scale, options: Chosen, learned: Regions, path: str | Path, overwrite: bool = False) -> None:
    """Write a scaling to a file, whole or not at all."""
    facts = _facts(scale, options, learned)
    write_whole(path, (dump({**facts, "sha256": _checksum(facts)}) + "\n").encode(), SCALING, overwrite)


def load(path: str | Path, make: Callable[[Scale, Chosen, Regions], Made]) -> Made:
    """Return what is made of the scaling that ``save`` wrote; refuse any other file, and one that changed since."""
    named, content = read_whole(path, "scaling", "scaling that steelyard saved", _is_scaling)
    try:
        facts = json.loads(content)
        said = facts.pop("version"), facts["rules"]
        if said != (VERSION, RULES):
            raise ForeignFile(
                f"{named} is a scaling of version {quoted(said[0])} by the rules {quoted(said[1])}, not {VERSION} by "
                f"{quoted(RULES)}",
                mend="Read it with the release that wrote it",
            )
        seal = facts.pop("sha256")
        if seal != _checksum({**facts, "version": said[0]}):
            raise DamagedFile(f"{named} was changed or cut off", mend=LEARN)
        return make(*_scaling(facts))
    except (ForeignFile, DamagedFile):
        raise
    except Exception:  # it may be wrong in any way
        raise DamagedFile(f"{named} is no scaling that can be read", mend=LEARN) from None


def _is_scaling(place: Path) -> bool:
    return SCALING.is_like(place) and place.stat().st_size > 0


def _checksum(facts: Mapping[str, Any]) -> str:
    """The checksum of all values, however the text is laid out."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _facts(scale: Scale, options: Chosen, learned: Regions) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": RULES,
        "classes": list(scale.classes),
        "event": scale.event,
        **dict(zip(PARAMETERS, options, strict=True)),
        "joined": [[list(name), [list(block) for block in blocks]] for name, blocks in sorted(learned.joined.items())],
        "regions": [_region_facts(prefix, learned.sums[prefix]) for prefix in sorted(learned.sums)],
    }


def _region_facts(prefix: Prefix, sums: RegionSums) -> dict[str, Any]:
    arrays = {name: getattr(sums, name).tolist() for name in ("classes", *LEVELS)}
    return {"region": list(prefix), "rows": float(sums.rows), "mass": float(sums.mass), **arrays}


# --- reading ------------------------------------------------------------------------------------------------------


def _scaling(facts: Mapping[str, Any]) -> tuple[Scale, Chosen, Regions]:
    """The scale, the options and the regions of a scaling, as they were; what no rows can have left is an error."""
    scale = Scale(facts["classes"], facts["event"])
    size = len(scale)
    scaling, depth, floor, ties, seed = (facts[name] for name in PARAMETERS)
    options: Chosen = checked_choice((scaling, depth, floor, ties, seed), size)
    joined = {_prefix(name, size): _blocks(blocks, size) for name, blocks in facts["joined"]}
    _refuse(not joined or ties == "joined")
    for name, blocks in joined.items():
        _refuse(len(name) <= depth and len(blocks) <= len(name))
        _refuse(all(name[place] == block[0] for place, block in enumerate(blocks)))
        _refuse(name[:-1] in joined or len(name) == 1)
    regions = Regions(size, depth, {}, joined)
    found: dict[Prefix, RegionSums] = {}
    for each in facts["regions"]:
        prefix = _prefix(each["region"], size)
        _refuse(prefix not in found and 0 < len(prefix) <= depth)
        _refuse(prefix in joined if ties == "joined" else len(set(prefix)) == len(prefix))
        found[prefix] = _sums(each, size, regions.order(prefix))
    _refuse_unlike_parts(found, depth)
    return scale, options, Regions(size, depth, found, joined)


def _refuse(fits: Any) -> None:
    if not fits:
        raise ValueError("sums of rows that there cannot be")


def _prefix(places: Any, classes: int) -> Prefix:
    _refuse(isinstance(places, list) and all(type(place) is int and 0 <= place < classes for place in places))
    return tuple(places)


def _blocks(blocks: Any, classes: int) -> Blocks:
    """Classes that stand together; none stands twice."""
    found = tuple(_prefix(block, classes) for block in blocks)
    places = [place for block in found for place in block]
    _refuse(len(set(places)) == len(places) and all(found))
    _refuse(all(one < other for block in found for one, other in pairwise(block)))
    return found


def _sums(facts: Mapping[str, Any], classes: int, order: Blocks) -> RegionSums:
    by_class = _numbers(facts["classes"], classes)
    left, mean, scatter, low, high = (_numbers(facts[name], len(order)) for name in LEVELS)
    rows, mass = (float(_numbers([facts[name]], 1)[0]) for name in ("rows", "mass"))
    _refuse(rows > 0 and mass > 0 and abs(by_class.sum() - mass) <= ROUNDING * mass)
    _refuse((scatter <= (1 + ROUNDING) * left).all() and (left <= (1 + ROUNDING) * mass).all())
    _refuse((low <= mean + ROUNDING).all() and (mean <= high + ROUNDING).all() and (high <= 1 + ROUNDING).all())
    return RegionSums(rows, mass, by_class, left, mean, scatter, low, high)


def _numbers(values: Any, size: int) -> Any:
    """Plain numbers that are not negative; sums that were subtracted may be so by rounding."""
    _refuse(isinstance(values, list) and len(values) == size)
    _refuse(all(type(value) in (int, float) for value in values))
    found = np.array(values, dtype=np.float64)
    _refuse(np.isfinite(found).all() and (found >= -ROUNDING).all())
    return found


def _refuse_unlike_parts(found: Mapping[Prefix, RegionSums], depth: int) -> None:
    """Refuse regions whose parts do not add up to them."""
    parts: dict[Prefix, list[RegionSums]] = {}
    for prefix, sums in found.items():
        _refuse(len(prefix) == 1 or prefix[:-1] in found)
        parts.setdefault(prefix[:-1], []).append(sums)
    for prefix, sums in found.items():
        if len(prefix) < depth:
            _refuse(_close([each.rows for each in parts[prefix]], sums.rows))
            _refuse(_close([each.mass for each in parts[prefix]], sums.mass))


def _close(parts: Sequence[float], total: float) -> bool:
    return abs(sum(parts) - total) <= ROUNDING * total
