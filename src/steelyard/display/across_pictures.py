"""Pictures of classifiers on many data sets: fills the displays with finished tables, and draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .plots import CriticalDifferenceDisplay, PosteriorDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.across import AcrossDatasets, Method


TESTS = {"nemenyi": "Nemenyi's test", "wilcoxon": "Wilcoxon's test with Holm's adjustment"}


@dataclass(frozen=True)
class AcrossPictures:
    """What can be drawn of classifiers on many data sets.

    Every method draws into ``ax``, or into a figure of its own, and returns the display, whose ``plot`` draws it again
    and whose ``frame`` is the table behind it.
    """

    across: AcrossDatasets

    def critical_difference(self, method: Method = "nemenyi", *, ax: Axes | None = None) -> CriticalDifferenceDisplay:
        """Mean ranks on a line, and bars that join classifiers which cannot be told apart (Demšar 2006).

        Args:
            method: "nemenyi" (by mean ranks; the critical difference is drawn below) or "wilcoxon" (signed ranks with
                Holm's adjustment; dots on a bar are those whom it joins).
            ax: Where to draw; a new figure if not given.
        """
        display = CriticalDifferenceDisplay(
            self.across.ranks(),
            self.across.groups(method),
            critical_difference=self.across.nemenyi().critical_difference if method == "nemenyi" else None,
            test=TESTS[method],
            level=self.across.level,
        )
        display.plot(ax)
        return display

    def posterior(
        self,
        rope: float = 0.01,
        a: str | None = None,
        b: str | None = None,
        *,
        draws: int = 50_000,
        seed: int = 0,
        ax: Axes | None = None,
    ) -> PosteriorDisplay:
        """How probable it is that either of two is better, or that the difference does not matter, for all pairs."""
        display = PosteriorDisplay(self.across.bayesian(rope, a, b, draws=draws, seed=seed), rope=rope)
        display.plot(ax)
        return display
