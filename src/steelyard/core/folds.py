"""Rows dealt into folds that are left out together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .typing import Places


def groups_apart(groups: Places) -> list[Places]:
    """The rows of every group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order])) + 1
    return list(np.split(order, starts))


def deal(rows: int, number: int, groups: Places | None, seed: int) -> list[Places]:
    """The rows of every fold, dealt as ``fold_of`` says."""
    return groups_apart(fold_of(rows, number, groups, seed))


def fold_of(rows: int, number: int, groups: Places | None, seed: int) -> Places:
    """The fold of each row: at random, about equally large, and groups stay together."""
    random = np.random.default_rng(seed)
    if groups is None:
        return np.asarray(random.permutation(rows) % number)
    apart = groups_apart(groups)
    sizes, filled = np.array([len(each) for each in apart]), np.zeros(number, dtype=np.int64)
    fold = np.empty(rows, dtype=np.int64)
    shuffled = random.permutation(len(apart))
    for place in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        emptiest = int(np.argmin(filled))
        fold[apart[place]] = emptiest
        filled[emptiest] += sizes[place]
    return fold
