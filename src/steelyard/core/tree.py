"""The one order in which states are added, whatever made them and whenever they came."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

State = TypeVar("State")


@dataclass
class Sum(Generic[State]):
    """States added up in pairs, in the order in which they come: sums of many clusters are not copied every time.

    The tree depends on how many states there are and on nothing else. Whole branches of it may be added up elsewhere:
    so many states in a row as a power of two, counted from the first.

    Attributes:
        join: How two are added; an engine may only write down that they shall be.
        parts: What was added up so far, and how high each branch is.
    """

    join: Callable[[Any, Any], Any] = operator.add
    parts: list[tuple[int, State]] = field(default_factory=list)

    def add(self, state: State) -> None:
        """Add one; two of the same height become one of the next."""
        height = 0
        while self.parts and self.parts[-1][0] == height:
            state, height = self.join(self.parts.pop()[1], state), height + 1
        self.parts.append((height, state))

    def total(self) -> State | None:
        """What was added so far."""
        found: State | None = None
        for _, state in reversed(self.parts):
            found = state if found is None else self.join(state, found)
        return found
