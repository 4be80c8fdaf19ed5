"""The engine of this process: as many shares at a time as there are cores, by threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.threads import in_order
from ...core.tree import Sum


class Local:
    """Works on shares here; of each, some batches are in memory at a time."""

    def fold(
        self, work: Callable[[Any], Any], shares: Sequence[Any], done: Callable[[Any], None] = lambda _: None
    ) -> Any:
        """Add up what becomes of every share."""
        total: Sum[Any] = Sum()
        for share, state in zip(shares, in_order(work, shares), strict=True):
            total.add(state)
            done(share)
        return total.total()
