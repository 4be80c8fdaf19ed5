"""A scaling of memberships as a result of its own: what it learned of every region, and other rows scaled by that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...core.cached import cached_property
from ...core.errors import (
    BadOption,
    DamagedFile,
    EventNeeded,
    ForeignFile,
    MissingValues,
    OutsideUnitInterval,
    SumNotOne,
    WrongShape,
    quoted,
)
from ...core.scale import Label, Scale, listed
from ...core.suggestions import refuse_unknown
from ...core.table import Table, dump, whole
from ...data.whole_files import SCALING, read_whole, write_whole
from ...inputs.prediction import Prediction, recognise
from .fitting import Regions, RegionSums, Scaling
from .rows import Arranged, by_own_lot, joined, tied_in
from .scaling import ROUNDING, BetaMoments, Variant, certainty_of
from .space import PARAMETERS, RAW, Chosen, checked_choice

if TYPE_CHECKING:
    from ...core.typing import Array, Places
    from .rows import Prefix
    from .scaling import Blocks

GIVEN = "memberships"  # what messages call them
OF_LEVELS = ("mean", "alpha", "beta", "certainty", "correct", "scaled_alpha", "scaled_beta", "scaled_by")
LEFT_OUT = "Fill it in, or leave the row out"
STANDARDISED = "Standardise them as those that the scaling was learned from: see steelyard.standardise"
UNSEEN = ("error", "keep")
FORMAT = "steelyard partition scaling"
VERSION = 1
RULES = "Sondhauss & Weihs (2001), version 1"  # by which sums become maps: another number where results differ
LEVELS = ("left", "mean", "scatter", "low", "high")
SLACK = 1e-6  # of sums in files
LEARN = "Learn the scaling again, and save it"


@dataclass(frozen=True, eq=False)
class PartitionScaling:
    """A scaling of memberships, region by region, that was learned from some rows (Sondhauss & Weihs 2001).

    ``Assessment.scaling`` and ``partition_scaling`` make it. It holds sums of regions and no rows.

    Attributes:
        scale: The classes.
        options: How it scales: scaling, depth, floor, ties and seed, as the measures take them.
        learned: The sums of all regions.
    """

    scale: Scale
    options: Chosen
    learned: Regions = field(repr=False)

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in the order of the columns."""
        return self.scale.classes

    @cached_property
    def fitted(self) -> Scaling | None:
        """The maps of every region; None where memberships stay as they are."""
        scaling, _, floor, _, _ = self.options
        if scaling == RAW:
            return None
        variant: Variant = scaling  # type: ignore[assignment]  # checked there
        return Scaling(self.learned, variant, floor)

    def __repr__(self) -> str:
        """In one line."""
        scaling, depth, floor, ties, seed = self.options
        told = f"scaling={scaling!r}, depth={depth}, floor={floor}, ties={ties!r}, seed={seed}"
        seen = sum(sums.rows for prefix, sums in self.learned.sums.items() if len(prefix) == 1)
        return f"PartitionScaling of {listed(self.classes, 5)} ({told}), learned from {seen:,.0f} rows"

    # --- other rows ----------------------------------------------------------------------------------------------

    def transform(self, memberships: Any, *, unseen: Literal["error", "keep"] = "error") -> Table:
        """Scale memberships by the regions that were learned; each row by itself, whatever other rows there are.

        A row belongs to the region of its highest classes. Deep regions that were not seen, or that have fewer rows
        than the floor, take the scaling of the wider region. Tied rows go to the class that comes first, with
        ties="joined" to the region that was joined for such ties; a tie that was not seen goes to its first class.
        With ties="random", the seed and the row's own memberships decide: rows that are alike are scaled alike, and a
        tied row of those that the scaling was learned from may have drawn another region there.

        Args:
            memberships: One row an observation: an array (n, C) in the order of the classes, a frame or dictionary
                whose names are the classes, a probability of the event (n,), or labels, which are memberships of 1.
            unseen: What to do with rows whose highest class no row had that the scaling was learned from: "error", or
                "keep" to leave their memberships as they are.

        Returns:
            A Table: one row an observation, one column a class.
        """
        refuse_unknown("unseen", unseen, UNSEEN)
        return memberships_table(self.scaled(admitted(memberships, self.scale), keep=unseen == "keep"), self.scale)

    def scaled(self, given: Array, keep: bool = False) -> Array:
        """Scale memberships that passed every check, (rows, classes)."""
        if self.fitted is None or not len(given):
            return given
        rows = Arranged.of(given, self._order(given), self.learned.depth)
        unseen = [part for part in rows.parts if not self.fitted.region(part.prefix)]
        if unseen and not keep:
            row, place = min((int(rows.places[part.start : part.stop].min()), part.prefix[0]) for part in unseen)
            raise BadOption(
                f"{quoted(self.classes[place])} has the highest membership here, and none of the rows that the scaling "
                "was learned from had so",
                column=GIVEN,
                row=row,
                mend="Learn from rows that are assigned to all classes, or say unseen='keep' to leave such rows as "
                "they are",
            )
        return self.fitted.all(rows)

    def _order(self, given: Array) -> Places | None:
        """The highest classes of each row, where ties are not given to the first class."""
        _, depth, _, ties, seed = self.options
        if ties == "joined":
            return joined(given, depth, tied_in(self.learned.joined, len(self.classes)))[0]
        return by_own_lot(given, depth, seed) if ties == "random" else None

    # --- what it learned -------------------------------------------------------------------------------------------

    def regions(self) -> Table:
        """All regions with what was learned of them: a tidy table, one row a region.

        At depth 1 these are the classes in the order of the scale, also those that no row was assigned to; at greater
        depth the regions that have rows. The columns are

        - region: its highest classes in their order, "a > b"; "a = b" where ties have joined them;
        - n and weight: how many observations it has, and what they weigh together;
        - mean: the mean membership of the highest class, by weight;
        - alpha and beta: of the Beta variable with this mean and the variance of the memberships;
        - certainty: N, the lesser of n and alpha + beta;
        - correct: the share of right assignments, by weight;
        - scaled_alpha and scaled_beta: of the Beta variable that the memberships are mapped to;
        - scaled_by: "beta", from one Beta variable to the other; "single" where all rows get one value; "joined" where
          ties have joined classes; "wider" where the scaling of the wider region is taken; "shift", as klaR does it;
          "raw" and "none" where memberships stay as they are;
        - note: why it is not "beta".

        At depth 2 and more the columns with _2, _3 and so on are those of the next classes, within what the classes
        before leave.
        """
        rows = [self._row(prefix) for prefix in self._prefixes()]
        names = ["region", "n", "weight", *self._level_names(), "note"]
        return Table({name: [row[name] for row in rows] for name in names})

    def _level_names(self) -> Iterator[str]:
        for level in range(self.learned.depth):
            yield from (name_of(name, level) for name in OF_LEVELS)

    def _prefixes(self) -> list[Prefix]:
        """The regions to tell of; at depth 1, that of every class that is not joined with one before it."""
        depth = self.learned.depth
        found = [prefix for prefix in self.learned.sums if len(prefix) == depth]
        if depth == 1:
            told = {place for prefix in found for block in self._blocks(prefix) for place in block}
            found += [(place,) for place in range(len(self.classes)) if place not in told]
        return sorted(found)

    def _blocks(self, prefix: Prefix) -> Blocks:
        """The classes of a region in their order, also the last ones, which need no scaling of their own."""
        return told_blocks(self.learned.order(prefix), len(prefix), len(self.classes))

    def _row(self, prefix: Prefix) -> dict[str, Any]:
        blocks = self._blocks(prefix)
        found: dict[str, Any] = dict.fromkeys(self._level_names(), float("nan"))
        found |= {name: None for name in found if name.startswith("scaled_by")}
        found |= {"region": self._name(blocks), "n": 0, "weight": 0, "scaled_by": "none", "note": "no rows"}
        sums = self.learned.sums.get(prefix)
        if sums is None:
            return found
        found |= {"n": whole(sums.rows), "weight": whole(sums.mass), "note": ""}
        order = self.learned.order(prefix)
        for level in range(len(order)):
            own = sums.moments(level, order)
            found |= {name_of("mean", level): own.mean, name_of("correct", level): own.target}
        used = prefix if self.fitted is None else self.fitted.region(prefix)
        if self.fitted is None or not order:
            kept = self.fitted is not None
            note = "all classes are joined: memberships stay as they are" if kept else ""
            return found | {"scaled_by": "joined" if kept else RAW, "note": note}
        notes = []
        for level, one in enumerate(self.fitted.maps[used]):
            moments = self.learned.sums[used].moments(level, self.learned.order(used))
            how = "wider" if used != prefix else "joined" if len(order[level]) > 1 else HOW[one.kind]
            parameters = parameters_of(moments, self.fitted.variant) | {"scaled_by": how}
            found |= {name_of(name, level): value for name, value in parameters.items()}
            why = one.note or ("" if one.kind == "beta" else _why(moments))
            notes.append(why if not level else f"class {level + 1}: {why}" if why else "")
        for level, block in enumerate(blocks[len(order) :], len(order)):
            found |= {name_of("scaled_by", level): "joined"} if len(block) > 1 else {}
        if used != prefix:
            wider = f"fewer rows than the floor: takes the scaling of {self._name(self._blocks(used))}"
            notes = [wider, *notes]
        return found | {"note": "; ".join(dict.fromkeys(filter(None, notes)))}

    def _name(self, blocks: Blocks) -> Label:
        """A region by its classes: one alone by its label."""
        if len(blocks) == 1 and len(blocks[0]) == 1:
            return self.classes[blocks[0][0]]
        return " > ".join(" = ".join(str(self.classes[place]) for place in block) for block in blocks)

    # --- files -----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write to a file of JSON text, whole or not at all. It holds sums of regions, and no rows.

        Args:
            path: The file. A scaling that is there already is replaced.
            overwrite: Replace a file that is not a scaling, too; otherwise that is an error.
        """
        facts = _facts(self.scale, self.options, self.learned)
        write_whole(path, (dump({**facts, "sha256": _checksum(facts)}) + "\n").encode(), SCALING, overwrite)

    @classmethod
    def load(cls, path: str | Path) -> PartitionScaling:
        """Read what ``save`` wrote; refuse anything else, and anything that changed since."""
        named, content = read_whole(path, "scaling", "scaling that steelyard saved", _is_scaling)
        try:
            facts = json.loads(content)
            said = facts.pop("version"), facts["rules"]
            if said != (VERSION, RULES):
                raise ForeignFile(
                    f"{named} is a scaling of version {quoted(said[0])} by the rules {quoted(said[1])}, "
                    f"not {VERSION} by {quoted(RULES)}",
                    mend="Read it with the release that wrote it",
                )
            seal = facts.pop("sha256")
            if seal != _checksum({**facts, "version": said[0]}):
                raise DamagedFile(f"{named} was changed or cut off", mend=LEARN)
            made = cls(*_scaling(facts))
            _ = made.fitted and made.fitted.maps  # regions that cannot be scaled are an error
            return made
        except (ForeignFile, DamagedFile):
            raise
        except Exception:  # it may be wrong in any way
            raise DamagedFile(f"{named} is no scaling that can be read", mend=LEARN) from None


HOW = {"beta": "beta", "point": "single", "shift": "shift"}


def name_of(name: str, level: int) -> str:
    """Return the name of a column: that of the highest class as it is, those of the next with their number."""
    return f"{name}_{level + 1}" if level else name


def _why(moments: BetaMoments) -> str:
    """Why a region has no second Beta variable though its values vary."""
    if moments.target >= 1:
        return "all assignments are right"
    return "no assignment is right" if moments.target <= 0 else ""


def told_blocks(order: Blocks, levels: int, classes: int) -> Blocks:
    """Return the classes of so many levels, with the last ones of all that follow from the others."""
    taken = {place for block in order for place in block}
    rest = tuple(place for place in range(classes) if place not in taken)
    return (*order, rest) if len(order) < levels and rest else order


def parameters_of(moments: BetaMoments, variant: Variant) -> dict[str, float]:
    """Return the parameters of a region's two Beta variables; NaN where there is no such variable."""
    certainty = certainty_of(moments, variant)
    if not certainty > 0:
        return dict.fromkeys(("alpha", "beta", "certainty", "scaled_alpha", "scaled_beta"), float("nan"))
    kept = min(moments.rows, certainty)
    if variant == "klar":  # a whole number
        kept = float(np.floor(kept * (1 + ROUNDING)))
    return {
        "alpha": certainty * moments.mean,
        "beta": certainty * (1 - moments.mean),
        "certainty": kept,
        "scaled_alpha": kept * moments.target,
        "scaled_beta": kept * (1 - moments.target),
    }


def memberships_table(memberships: Array, scale: Scale) -> Table:
    """Return memberships as a table, one column a class and nothing else."""
    columns = zip(scale.classes, memberships.T, strict=True)
    return Table({str(label): column.tolist() for label, column in columns})


def admitted(memberships: Any, scale: Scale) -> Array:
    """Return memberships that passed every check that ``assess`` has for them, (rows, classes)."""
    said = recognise(memberships, GIVEN, scale.classes, scale.event, as_scores=True)
    try:
        codes = said.assigned(scale, None)
    except (OutsideUnitInterval, SumNotOne) as error:
        raise error.but(mend=STANDARDISED) from None
    except MissingValues as error:
        raise error.but(mend=LEFT_OUT) from None
    except (WrongShape, EventNeeded) as error:
        raise error.but(mend=f"Give one column for each of {listed(scale.classes, 5)}, in this order") from None
    return _of_codes(said, codes, scale)


def _of_codes(said: Prediction, codes: Any, scale: Scale) -> Array:
    """Memberships as they were given; of labels, 1 for the class."""
    columns = said.scores(scale).memberships()
    if not columns:
        return np.asarray(codes[:, None] == np.arange(len(scale)), dtype=np.float64)
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


# --- files: JSON text with a checksum, of which nothing is ever executed ----------------------------------------------
#
# A file discloses the classes, how memberships are scaled, and sums over the rows of each region; no row. Of a region
# with one row, the sums are that row.


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
    _refuse(rows > 0 and mass > 0 and abs(by_class.sum() - mass) <= SLACK * mass)
    _refuse((scatter <= (1 + SLACK) * left).all() and (left <= (1 + SLACK) * mass).all())
    _refuse((low <= mean + SLACK).all() and (mean <= high + SLACK).all() and (high <= 1 + SLACK).all())
    return RegionSums(rows, mass, by_class, left, mean, scatter, low, high)


def _numbers(values: Any, size: int) -> Any:
    """Plain numbers that are not negative; sums that were subtracted may be so by rounding."""
    _refuse(isinstance(values, list) and len(values) == size)
    _refuse(all(type(value) in (int, float) for value in values))
    found = np.array(values, dtype=np.float64)
    _refuse(np.isfinite(found).all() and (found >= -SLACK).all())
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
    return abs(sum(parts) - total) <= SLACK * total
