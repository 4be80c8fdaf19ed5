"""Static pictures: finished tables in, figure out. matplotlib is loaded when something is first drawn."""

from .base import Display as Display
from .curves import DecisionCurveDisplay as DecisionCurveDisplay
from .curves import DetDisplay as DetDisplay
from .curves import GainDisplay as GainDisplay
from .curves import LiftDisplay as LiftDisplay
from .curves import PrecisionRecallDisplay as PrecisionRecallDisplay
from .curves import RejectionDisplay as RejectionDisplay
from .curves import ReliabilityDisplay as ReliabilityDisplay
from .curves import RocDisplay as RocDisplay
from .curves import ThresholdDisplay as ThresholdDisplay
from .simplex import SimplexDisplay as SimplexDisplay
from .standings import CriticalDifferenceDisplay as CriticalDifferenceDisplay
from .standings import ErrorBoundsDisplay as ErrorBoundsDisplay
from .standings import PosteriorDisplay as PosteriorDisplay
from .standings import RankingDisplay as RankingDisplay
from .strips import ContinuumDisplay as ContinuumDisplay
