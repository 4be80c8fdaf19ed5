"""Which rows are held out, and by which a classifier is fitted meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.arrays import distinct, groups_apart
from ..core.cached import cached_property
from ..core.columns import things_in
from ..core.errors import BadOption, SteelyardError, StraddlingGroups, quoted
from ..core.scale import listed
from ..core.suggestions import refuse_no_count

if TYPE_CHECKING:
    from ..core.scale import Label
    from ..core.typing import AnyArray, Codes, Marks, Places
    from ..inputs.categorical import Categorical

Kind = Literal["folds", "leave one out", "hold out", "bootstrap", "splits"]
MOST_REPEATS = 100_000
MOST_SEEDS = 1 << 32  # that scikit-learn tells apart
MOST_REFUSED = 100  # draws in a row, of which chance refuses three of four at most unless it refuses all
HELD_OUT = 0.25
LEAVE_ONE_OUT = ("loo", "leave-one-out", "leave one out")
GIVEN = "splits as given"
MEND = "Say how many folds (cv=10), 'loo', a share to hold out (cv=0.25), Bootstrap(), or a splitter of scikit-learn"


@dataclass(frozen=True)
class Bootstrap:
    """Rows drawn with replacement to be fitted to; those that were not drawn are held out.

    Attributes:
        replicates: How often rows are drawn.
    """

    replicates: int = 200

    def __post_init__(self) -> None:
        """Check the options."""
        refuse_no_count("replicates", self.replicates, 2, MOST_REPEATS)


class Split(NamedTuple):
    """One fit: the rows that it sees and those that it is tried on.

    Attributes:
        repeat: Which time everything is done.
        fold: Which split of these.
        seen: The rows that it is fitted to; None where they are all that are not held out, in their order.
        test: The rows held out.
        rows: How many rows there are.
    """

    repeat: int
    fold: int
    seen: Places | None
    test: Places
    rows: int

    @property
    def train(self) -> Places:
        """The rows that it is fitted to: as many times all rows would not fit into memory."""
        return _others(self.test, self.rows) if self.seen is None else self.seen

    @property
    def size(self) -> int:
        """How many these are."""
        return self.rows - len(self.test) if self.seen is None else len(self.seen)


@dataclass(frozen=True)
class SplitPlan:
    """All fits that are to be made of a classifier.

    Attributes:
        kind: How rows are held out.
        splits: The rows of each fit.
        rows: How many rows there are.
        words: How rows are held out, for people.
    """

    kind: Kind
    splits: tuple[Split, ...]
    rows: int
    words: str

    @cached_property
    def times(self) -> Places:
        """How often each row is held out."""
        return np.bincount(np.concatenate([split.test for split in self.splits]), minlength=self.rows)

    @property
    def repeats(self) -> int:
        """How often all of it is done."""
        return 1 + max(split.repeat for split in self.splits)

    def of_repeat(self, repeat: int) -> list[Split]:
        """The fits of one repeat."""
        return [split for split in self.splits if split.repeat == repeat]

    def parts(self, repeat: int) -> list[Places] | None:
        """The rows held out by each fit, where each row is held out once a repeat and seen by all other fits."""
        splits = self.of_repeat(repeat)
        tested = np.concatenate([split.test for split in splits])
        every = len(tested) == self.rows and len(distinct(tested)) == self.rows
        rest = all(split.seen is None for split in splits)  # so many rows may be others, drawn with replacement
        return [split.test for split in splits] if every and rest else None


def make_plan(
    cv: Any,
    x: Any,
    codes: Codes,
    *,
    group: Categorical | None = None,
    repeats: int = 1,
    seed: int | None = None,
    classes: int = 2,
    kept: Places | None = None,
    dropped: int = 0,
) -> SplitPlan:
    """Read how rows are to be held out.

    The number of folds alone gives those of scikit-learn: stratified by class, in the order of rows, groups kept
    together. With a seed, or where they are made several times, rows are shuffled first. A draw of fewer ``classes``
    cannot be learned from. Where rows were ``dropped``, and others ``kept``, the numbers of rows that are given are
    those of all.
    """
    refuse_no_count("repeats", repeats, most=MOST_REPEATS)
    groups = None if group is None else group.codes
    kind, splitters, words = _splitters(cv, codes, groups, int(repeats), seed, classes)
    splits: list[Split] = []
    for repeat, splitter in enumerate(splitters):
        for fold, (train, test) in enumerate(_pairs(splitter, x, codes, groups, kept, dropped)):
            splits.append(Split(repeat, fold, train, test, len(codes)))
    if not splits:
        raise BadOption("cv= gives no split", mend=MEND)
    sizes = None if groups is None else np.bincount(groups)
    for split in splits:
        _refuse_unusable(split, kept)
        if group is not None and sizes is not None:
            _refuse_straddling(split, group, sizes)
    single = all(len(split.test) == 1 for split in splits) and len(splits) == len(codes)
    return SplitPlan("leave one out" if kind == "splits" and single else kind, tuple(splits), len(codes), words)


def _splitters(
    cv: Any, codes: Codes, groups: Codes | None, repeats: int, seed: int | None, classes: int
) -> tuple[Kind, Sequence[Any], str]:
    """The kind of plan, something that splits for each repeat, and what to call it."""
    again = f"{repeats} times " if repeats > 1 else ""
    together = ", groups together" if groups is not None else ""
    if (isinstance(cv, str) and cv == "hold-out") or (isinstance(cv, float | np.floating) and 0 < cv < 1):
        share = HELD_OUT if isinstance(cv, str) else float(cv)
        held = [_held_out(share, groups is not None, (seed or 0) + repeat) for repeat in range(repeats)]
        return "hold out", held, f"{again}{share:.0%} of the rows held out{together}"
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        folds = _checked_folds(int(cv), codes, groups)
        shuffled = None if seed is None and repeats == 1 else seed or 0
        found = [_folds(folds, groups is not None, None if shuffled is None else shuffled + r) for r in range(repeats)]
        return "folds", found, f"{again}{folds} folds, stratified by class{together}"
    if repeats > 1:
        raise BadOption("repeats= needs a number of folds", mend="Say cv=10, or let the splitter repeat itself")
    kind, splitter, words = _splitter(cv, groups is not None, seed or 0, classes)
    return kind, [splitter], words


def _splitter(cv: Any, grouped: bool, seed: int, classes: int) -> tuple[Kind, Any, str]:
    """Likewise, where everything is done once."""
    if isinstance(cv, str) and cv in LEAVE_ONE_OUT:
        if grouped:
            return "folds", _one_by_one, "one group left out at a time"
        return "leave one out", _one_by_one, "one row left out at a time"
    if isinstance(cv, Bootstrap) or (isinstance(cv, str) and cv == "bootstrap"):
        drawn = cv if isinstance(cv, Bootstrap) else Bootstrap()
        words = f"{drawn.replicates} bootstrap samples{', groups together' if grouped else ''}"
        return "bootstrap", partial(_drawn, drawn.replicates, seed, classes), words
    if hasattr(cv, "split") and not isinstance(cv, str | bytes):
        return "splits", cv, type(cv).__name__
    splits = things_in(cv)
    if splits is None:
        raise BadOption(f"cv is {quoted(cv)}", mend=MEND)
    return "splits", splits, GIVEN


def _checked_folds(folds: int, codes: Codes, groups: Codes | None) -> int:
    """As many folds as there can be."""
    units, what = (len(codes), "rows") if groups is None else (len(distinct(groups)), "groups")
    if not 2 <= folds <= units:
        raise BadOption(f"{folds} folds of {units} {what}", mend="Take 2 folds at least, and no more than there are")
    largest = int(np.bincount(codes).max())
    if groups is None and folds > largest:
        most = "1 row" if largest == 1 else f"{largest} rows"
        mend = "Give more rows, two of a class at least" if largest == 1 else f"Take {largest} folds, or cv='loo'"
        raise BadOption(f"{folds} folds, and no class has more than {most}", mend=mend)
    return folds


def _folds(folds: int, grouped: bool, seed: int | None) -> Any:
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    made = StratifiedGroupKFold if grouped else StratifiedKFold
    return made(folds, shuffle=seed is not None, random_state=None if seed is None else seed % MOST_SEEDS)


def _held_out(share: float, grouped: bool, seed: int) -> Any:
    from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

    made = GroupShuffleSplit if grouped else StratifiedShuffleSplit
    return made(1, test_size=share, random_state=seed % MOST_SEEDS)


def _one_by_one(x: Any, codes: Codes, groups: Codes | None) -> Iterator[tuple[None, Places]]:
    """One row, or group of them, held out at a time: in time that grows with the rows, not with their square."""
    for part in np.arange(len(codes)).reshape(-1, 1) if groups is None else groups_apart(groups):
        yield None, part


def _drawn(
    replicates: int, seed: int, classes: int, x: Any, codes: Codes, groups: Codes | None
) -> Iterator[tuple[Places, Places]]:
    """The rows, or groups of them, of each draw with replacement, and those that are not among them."""
    random = np.random.default_rng(seed)
    unit = np.arange(len(codes)) if groups is None else np.unique(groups, return_inverse=True)[1]
    members = np.split(np.argsort(unit, kind="stable"), np.cumsum(np.bincount(unit))[:-1])
    made = refused = 0
    while made < replicates:
        drawn = random.integers(len(members), size=len(members))
        train = np.concatenate([members[place] for place in drawn])
        test = np.flatnonzero(~np.isin(unit, drawn))
        # A sample of one class cannot be learned from, and one of all rows has nothing to be tried on.
        if len(test) and len(np.unique(codes[train])) >= classes:
            made, refused = made + 1, 0
            yield train, test
        elif (refused := refused + 1) == MOST_REFUSED:
            some = "rows" if groups is None else "groups"
            told = " has two classes and" if classes > 1 else ""
            problem = f"no draw of {some}{told} leaves any out to be tried on"
            raise BadOption(problem, mend=f"Give more {some}, or say cv=10, how many folds")


def _pairs(
    splitter: Any, x: Any, codes: Codes, groups: Codes | None, kept: Places | None, dropped: int
) -> Iterator[tuple[Places | None, Places]]:
    """The rows of each split, whatever says them; no rows to fit to where they are all that are not held out."""
    import warnings

    split = getattr(splitter, "split", splitter)
    if not callable(split):
        for pair in splitter:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise BadOption("a split is no pair", mend="Give (rows to fit to, rows to hold out)")
            seen, held = (_places(rows, len(codes) + dropped) for rows in pair)
            yield _pair(_among(kept, seen), _among(kept, held), len(codes))
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes with fewer rows than folds are told of in the result
            for train, test in split(x, codes, groups):
                yield _pair(train, test, len(codes))
    except SteelyardError:
        raise
    except ValueError as error:
        raise BadOption(f"{type(splitter).__name__} cannot split these rows: {error}", mend=MEND) from None


def _pair(train: Any, test: Any, size: int) -> tuple[Places | None, Places]:
    held = _places(test, size)
    if train is None:
        return None, held
    seen = _places(train, size)
    return None if np.array_equal(seen, _others(held, size)) else seen, held


def _among(kept: Places | None, rows: Places) -> Places:
    """Rows by their numbers among those that were kept, without those that were not."""
    if kept is None:
        return rows
    places = np.minimum(np.searchsorted(kept, rows), len(kept) - 1)
    found: Places = places[kept[places] == rows]
    return found


def _others(rows: Places, size: int) -> Places:
    """All rows but these, in their order."""
    kept = np.ones(size, dtype=bool)
    kept[rows] = False
    return np.flatnonzero(kept)


def _places(rows: Any, size: int) -> Places:
    """Row numbers, or marks of rows, as row numbers."""
    found: AnyArray = np.asarray(rows)
    if found.dtype == bool and found.shape == (size,):
        return np.flatnonzero(found)
    if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
        raise BadOption("a split does not hold row numbers", mend="Give whole numbers from 0 on, or marks")
    places = found.astype(np.int64)
    if len(places) and not (places.min() >= 0 and places.max() < size):
        strange = places[(places < 0) | (places >= size)][0]
        raise BadOption(f"a split names row {strange} of {size}", mend="Rows are numbered from 0 on")
    return places


def _refuse_unusable(split: Split, kept: Places | None) -> None:
    """Say so where a split has nothing to fit to or to hold out, or lets a fit see rows that it is tried on."""
    if not split.size or not len(split.test):
        raise BadOption(f"{_called(split)} has no rows to {'hold out' if split.size else 'fit to'}", mend=MEND)
    if split.seen is None:
        return
    both = split.test[_marked(split.seen, split.rows)[split.test]]
    if len(both):
        row = both.min() if kept is None else kept[both.min()]
        problem = f"{_called(split)} holds out rows that it is fitted to, row {row} for one"
        raise BadOption(problem, mend="Part them: no row in both")


def _refuse_straddling(split: Split, group: Categorical, sizes: Places) -> None:
    """Say so where a fit sees rows of a group that it is tried on; ``sizes`` are the rows that groups have."""
    tested = group.codes[split.test]
    if split.seen is None:
        names, held = np.unique(group.codes[np.unique(split.test)], return_counts=True)
        shared = names[held < sizes[names]]
    else:
        shared = tested[_marked(group.codes[split.seen], len(sizes))[tested]]
    if len(shared):
        raise StraddlingGroups(
            f"{_called(split)} has the group {quoted(group.labels[int(shared.min())])} on both sides",
            row=int(split.test[np.argmax(tested == shared.min())]),
            column=group.name,
            mend="Keep groups together: cv=10 does, or GroupKFold",
        )


def _called(split: Split) -> str:
    return f"split {split.fold}" + (f" of repeat {split.repeat}" if split.repeat else "")


def _marked(places: Places, size: int) -> Marks:
    marks = np.zeros(size, dtype=bool)
    marks[places] = True
    return marks


def rare_classes(codes: Codes, classes: Sequence[Label], plan: SplitPlan) -> list[str]:
    """What there is to know of classes that some fits did not see, or could not be tried on."""
    notes = []
    counts = np.bincount(codes, minlength=len(classes))
    if plan.kind == "folds":
        folds = len(plan.of_repeat(0))
        rare = [label for label, count in zip(classes, counts, strict=True) if 0 < count < folds]
        if rare:
            notes.append(f"fewer rows than the {folds} folds: {listed(rare, 3)}; some folds are without them")
    unseen: dict[Label, int] = {}
    for split in plan.splits:
        # Of all rows but a few, it is quicker to count the few.
        rows = split.test if split.seen is None else split.seen
        some = np.bincount(codes[rows], minlength=len(classes))
        missing = ((counts - some if split.seen is None else some) == 0) & (counts > 0)
        for code in np.flatnonzero(missing).tolist():
            unseen[classes[code]] = unseen.get(classes[code], 0) + 1
    for label, number in unseen.items():
        notes.append(f"{number:,} of {len(plan.splits):,} fits had no row of {quoted(label)} to learn it from")
    return notes
