"""steelyard weighs classifiers: any classifier, by every standard, on one beam.

Names are loaded when they are first used, so that ``import steelyard`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import errors as errors
    from .across import AcrossDatasets as AcrossDatasets
    from .across import across_datasets as across_datasets
    from .api import assess as assess
    from .api import assess_table as assess_table
    from .api import assess_tally as assess_tally
    from .api import compare as compare
    from .api import compare_tally as compare_tally
    from .api import decide as decide
    from .assessment import Assessment as Assessment
    from .chances import class_probabilities as class_probabilities
    from .chances import expected_sqe as expected_sqe
    from .comparison import Comparison as Comparison
    from .continuum_rules import CutClassifier as CutClassifier
    from .continuum_rules import RegressionRule as RegressionRule
    from .decisions import Decision as Decision
    from .deviations import Deviation as Deviation
    from .deviations import intrinsic_sd as intrinsic_sd
    from .deviations import measurement_sd as measurement_sd
    from .deviations import total_sd as total_sd
    from .differences import McNemar as McNemar
    from .differences import mcnemar as mcnemar
    from .errors import SteelyardError as SteelyardError
    from .estimate import Estimate as Estimate
    from .known_probabilities import membership_precision as membership_precision
    from .known_probabilities import separability as separability
    from .measures import all_measures as all_measures
    from .measures import find as find
    from .population import PopulationErrors as PopulationErrors
    from .population import population_errors as population_errors
    from .rankings import ranking_table as ranking_table
    from .registry import Measure as Measure
    from .registry import measure as measure
    from .registry import proportion as proportion
    from .resampling.cross import cross_assess as cross_assess
    from .resampling.crossed import CrossAssessment as CrossAssessment
    from .resampling.permuting import PermutationTest as PermutationTest
    from .resampling.permuting import permutation_test as permutation_test
    from .resampling.plans import Bootstrap as Bootstrap
    from .resampling.tuning import TunedClassifier as TunedClassifier
    from .resampling.tuning import Tuning as Tuning
    from .resampling.tuning import tune as tune
    from .response import Response as Response
    from .response import fit_response as fit_response
    from .scale import Continuum as Continuum
    from .scale import Scale as Scale
    from .scoring import scorer as scorer
    from .standardising import standardise as standardise
    from .table import Table as Table
    from .tally import Tally as Tally
    from .verdicts import Verdict as Verdict

__version__ = "0.1.0"

_HOMES = {
    "across": ("AcrossDatasets", "across_datasets"),
    "api": ("assess", "assess_table", "assess_tally", "compare", "compare_tally", "decide"),
    "assessment": ("Assessment",),
    "comparison": ("Comparison",),
    "continuum_rules": ("CutClassifier", "RegressionRule"),
    "decisions": ("Decision",),
    "deviations": ("Deviation", "intrinsic_sd", "measurement_sd", "total_sd"),
    "differences": ("McNemar", "mcnemar"),
    "errors": ("SteelyardError",),
    "estimate": ("Estimate",),
    "chances": ("class_probabilities", "expected_sqe"),
    "known_probabilities": ("membership_precision", "separability"),
    "measures": ("all_measures", "find"),
    "population": ("PopulationErrors", "population_errors"),
    "rankings": ("ranking_table",),
    "registry": ("Measure", "measure", "proportion"),
    "resampling.cross": ("cross_assess",),
    "resampling.crossed": ("CrossAssessment",),
    "resampling.permuting": ("PermutationTest", "permutation_test"),
    "resampling.plans": ("Bootstrap",),
    "resampling.tuning": ("TunedClassifier", "Tuning", "tune"),
    "response": ("Response", "fit_response"),
    "scale": ("Continuum", "Scale"),
    "scoring": ("scorer",),
    "standardising": ("standardise",),
    "table": ("Table",),
    "tally": ("Tally",),
    "verdicts": ("Verdict",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


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
