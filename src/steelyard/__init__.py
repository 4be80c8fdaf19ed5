"""steelyard weighs classifiers: any classifier, by every standard, on one beam.

Names are loaded when they are first used, so that ``import steelyard`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to load than all that this module does
if TYPE_CHECKING:
    from typing import Any

    from . import errors as errors
    from .api import assess as assess
    from .api import assess_table as assess_table
    from .api import assess_tally as assess_tally
    from .api import compare as compare
    from .api import compare_tally as compare_tally
    from .api import decide as decide
    from .api import partition_scaling as partition_scaling
    from .assessing.assessment import Assessment as Assessment
    from .comparing.across import AcrossDatasets as AcrossDatasets
    from .comparing.across import across_datasets as across_datasets
    from .comparing.comparison import Comparison as Comparison
    from .comparing.mcnemar import McNemar as McNemar
    from .comparing.mcnemar import mcnemar as mcnemar
    from .comparing.rankings import ranking_table as ranking_table
    from .comparing.verdicts import Verdict as Verdict
    from .continuum.chances import class_probabilities as class_probabilities
    from .continuum.chances import expected_sqe as expected_sqe
    from .continuum.deviations import Deviation as Deviation
    from .continuum.deviations import intrinsic_sd as intrinsic_sd
    from .continuum.deviations import measurement_sd as measurement_sd
    from .continuum.deviations import total_sd as total_sd
    from .continuum.population import PopulationErrors as PopulationErrors
    from .continuum.population import population_errors as population_errors
    from .continuum.response import Response as Response
    from .continuum.response import fit_response as fit_response
    from .continuum.rules import CutClassifier as CutClassifier
    from .continuum.rules import RegressionRule as RegressionRule
    from .deciding.decisions import Decision as Decision
    from .errors import SteelyardError as SteelyardError
    from .estimate import Estimate as Estimate
    from .measures import all_measures as all_measures
    from .measures import find as find
    from .partition.known_probabilities import membership_precision as membership_precision
    from .partition.known_probabilities import separability as separability
    from .partition.partition_scaling import PartitionScaling as PartitionScaling
    from .partition.standardising import standardise as standardise
    from .registry import Measure as Measure
    from .registry import measure as measure
    from .registry import proportion as proportion
    from .resampling.cross import cross_assess as cross_assess
    from .resampling.crossed import CrossAssessment as CrossAssessment
    from .resampling.permuting import PermutationTest as PermutationTest
    from .resampling.permuting import permutation_test as permutation_test
    from .resampling.plans import Bootstrap as Bootstrap
    from .resampling.scoring import scorer as scorer
    from .resampling.tuning import TunedClassifier as TunedClassifier
    from .resampling.tuning import Tuning as Tuning
    from .resampling.tuning import tune as tune
    from .scale import Continuum as Continuum
    from .scale import Scale as Scale
    from .table import Table as Table
    from .tallies.merging import merge as merge
    from .tallies.tally import Tally as Tally

__version__ = "0.1.0"

_HOMES = {
    "api": ("assess", "assess_table", "assess_tally", "compare", "compare_tally", "decide", "partition_scaling"),
    "assessing.assessment": ("Assessment",),
    "comparing.across": ("AcrossDatasets", "across_datasets"),
    "comparing.comparison": ("Comparison",),
    "comparing.mcnemar": ("McNemar", "mcnemar"),
    "comparing.rankings": ("ranking_table",),
    "comparing.verdicts": ("Verdict",),
    "continuum.chances": ("class_probabilities", "expected_sqe"),
    "continuum.deviations": ("Deviation", "intrinsic_sd", "measurement_sd", "total_sd"),
    "continuum.population": ("PopulationErrors", "population_errors"),
    "continuum.response": ("Response", "fit_response"),
    "continuum.rules": ("CutClassifier", "RegressionRule"),
    "deciding.decisions": ("Decision",),
    "errors": ("SteelyardError",),
    "estimate": ("Estimate",),
    "measures": ("all_measures", "find"),
    "partition.known_probabilities": ("membership_precision", "separability"),
    "partition.partition_scaling": ("PartitionScaling",),
    "partition.standardising": ("standardise",),
    "registry": ("Measure", "measure", "proportion"),
    "resampling.cross": ("cross_assess",),
    "resampling.crossed": ("CrossAssessment",),
    "resampling.permuting": ("PermutationTest", "permutation_test"),
    "resampling.plans": ("Bootstrap",),
    "resampling.scoring": ("scorer",),
    "resampling.tuning": ("TunedClassifier", "Tuning", "tune"),
    "scale": ("Continuum", "Scale"),
    "table": ("Table",),
    "tallies.merging": ("merge",),
    "tallies.tally": ("Tally",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
# For `from steelyard import *` and help(), which do not ask for names that are not loaded yet.
__all__ = sorted(_HOME_OF)  # noqa: PLE0605  (a list, made of what stands above)


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module(".errors", __name__)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    """What there is for users; modules that happen to be loaded are not."""
    return sorted({"errors", *_HOME_OF, *(name for name in globals() if name.startswith("__"))})
