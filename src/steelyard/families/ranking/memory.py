"""What an evaluation of scores has found already."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...inference.row_evaluation import Found
from ...maths.ordered_scores import Ranking
from .counted import Counted
from .one_against_rest import OneAgainstRest
from .smoothed import Smoothed


@dataclass(frozen=True)
class Memory:
    """What was found already, shared by all that look at the same rows."""

    sorted: dict[int, OneAgainstRest] = field(default_factory=dict)
    unordered: dict[int, OneAgainstRest] = field(default_factory=dict)
    rankings: dict[int, Ranking] = field(default_factory=dict)
    results: dict[tuple[str, int | str | None], Found] = field(default_factory=dict)
    counted: list[Counted] = field(default_factory=list)
    smoothed: dict[str, Smoothed] = field(default_factory=dict)
