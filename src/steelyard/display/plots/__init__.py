"""Static pictures: finished tables in, figure out. matplotlib is loaded when something is first drawn."""

from .critical_difference import CriticalDifferenceDisplay as CriticalDifferenceDisplay
from .curves import DecisionCurveDisplay as DecisionCurveDisplay
from .curves import DetDisplay as DetDisplay
from .curves import GainDisplay as GainDisplay
from .curves import LiftDisplay as LiftDisplay
from .curves import PrecisionRecallDisplay as PrecisionRecallDisplay
from .curves import RejectionDisplay as RejectionDisplay
from .curves import RocDisplay as RocDisplay
from .display import Display as Display
from .forest import ErrorBoundsDisplay as ErrorBoundsDisplay
from .posterior import PosteriorDisplay as PosteriorDisplay
from .ranking import RankingDisplay as RankingDisplay
from .reliability import ReliabilityDisplay as ReliabilityDisplay
from .simplex import SimplexDisplay as SimplexDisplay
from .strips import ContinuumDisplay as ContinuumDisplay
from .thresholds import ThresholdDisplay as ThresholdDisplay
