"""What there is of one classifier beside its measures: its forecasts, held against how often they came true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import OutsideUnitInterval
from ..core.scale import Label
from ..core.table import Table
from ..inference.settings import STANDARDISE
from .evaluated import Evaluated

if TYPE_CHECKING:
    from ..core.typing import Array, Numbers
    from .reliability import CalibrationTest, Reliability


@dataclass(frozen=True, eq=False)
class Calibrated(Evaluated):
    """One classifier, evaluated, and its forecasts."""

    def reliabilities(self, label: Any = None, every: bool = False) -> dict[Label, Reliability]:
        """The forecasts of the class that is named, of the event, or of every class, with their frequencies."""
        from .reliability import Reliability

        mass, unit = self.calibration.weights.mass, self.evaluation.unit
        return {name: Reliability.of(*both, mass, unit) for name, both in self._forecasts(label, every)}

    def _forecasts(self, label: Any, every: bool = False) -> Iterator[tuple[Label, tuple[Numbers, Array]]]:
        """The same by row: what was said of a class, and whether it came true."""
        self._refuse_improbable()
        self.calibration.rows.refuse_changed()
        event = None if every else self.tally.scale.event_code
        named = event if label is None else self.tally.scale.code(label)
        for code in range(len(self.classes)) if named is None else [named]:
            yield self.classes[code], self.calibration.forecast(code)

    def _refuse_improbable(self) -> None:
        rows = self.tally.rows_of(self.slice)
        if rows is not None and not rows.scores[self.evaluation.model].are_probabilities:
            raise OutsideUnitInterval("the scores are no probabilities", mend=STANDARDISE)

    def reliability(self, label: Any = None, *, band: bool = True) -> Table:
        """How often a class is the true one at each forecast of it, by isotonic regression (CORP).

        Args:
            label: The class; the event, or every class where there is no event, if not given.
            band: Whether to add the band that calibrated forecasts would stay in, each forecast for itself.

        Returns:
            A tidy table with the columns class, forecast, frequency, rows, and low and high where there is a band.
        """
        from .decomposition import curves

        return curves(self.reliabilities(label), self.settings.level, self.settings.seed, band)

    def calibration_line(self, label: Any = None) -> Table:
        """In which ways the forecasts of a class are off: too low or too high as a whole, too sure or too timid.

        On the scale of log odds, forecasts come true along a line. Its slope is 1 where they are calibrated, less where
        they are too sure. The intercept is what the line is shifted by where its slope is held at 1: 0 where as many
        rows come true as are expected to, and above 0 where more do (calibration in the large).

        Args:
            label: The class; the event, or every class where there is no event, if not given.

        Returns:
            A tidy table with the columns class, part ("observed / expected", "intercept" and "slope"), ideal, value,
            low, high, se, p (of a test against the ideal) and note.
        """
        from .decomposition import lines

        weights, cluster = self.calibration.weights, self.calibration.rows.cluster
        return lines(self._forecasts(label), weights, cluster, self.settings.level)

    def calibration_test(self, label: Any = None) -> CalibrationTest:
        """Test whether the forecasts of a class are calibrated, whatever the way in which they are not.

        Args:
            label: The class; the event, or every class where there is no event, if not given. With several classes the
                least p-value is multiplied by their number; of very many, its class is drawn for more often.

        Returns:
            A CalibrationTest: its ``p`` is small where chance alone does not explain the miscalibration.
        """
        from .decomposition import tested

        return tested(self.reliabilities(label), self.settings.seed)
