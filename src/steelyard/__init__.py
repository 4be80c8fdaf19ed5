"""steelyard weighs classifiers: any classifier, by every standard, on one beam.

Names are loaded when they are first used, so that ``import steelyard`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to load than all that this module does
if TYPE_CHECKING:
    from typing import Any

    from .core import errors as errors
    from .core.errors import SteelyardError as SteelyardError
    from .core.estimate import Deviation as Deviation
    from .core.estimate import Estimate as Estimate
    from .core.scale import Continuum as Continuum
    from .core.scale import Scale as Scale
    from .core.table import Table as Table
    from .families.partition.memberships import membership_precision as membership_precision
    from .families.partition.memberships import separability as separability
    from .families.partition.memberships import standardise as standardise
    from .families.partition.partition_scaling import PartitionScaling as PartitionScaling
    from .measures import all_measures as all_measures
    from .measures import find as find
    from .measures.registry import Measure as Measure
    from .measures.registry import measure as measure
    from .measures.registry import proportion as proportion
    from .modelling.cross import cross_assess as cross_assess
    from .modelling.cross_assessment import CrossAssessment as CrossAssessment
    from .modelling.cut_rules import CutClassifier as CutClassifier
    from .modelling.cut_rules import RegressionRule as RegressionRule
    from .modelling.deviations import intrinsic_sd as intrinsic_sd
    from .modelling.deviations import measurement_sd as measurement_sd
    from .modelling.deviations import total_sd as total_sd
    from .modelling.permutation_test import PermutationTest as PermutationTest
    from .modelling.permutation_test import permutation_test as permutation_test
    from .modelling.population import PopulationErrors as PopulationErrors
    from .modelling.population import class_probabilities as class_probabilities
    from .modelling.population import expected_sqe as expected_sqe
    from .modelling.population import population_errors as population_errors
    from .modelling.response import Response as Response
    from .modelling.response import fit_response as fit_response
    from .modelling.scoring import scorer as scorer
    from .modelling.splits import Bootstrap as Bootstrap
    from .modelling.tuning import TunedClassifier as TunedClassifier
    from .modelling.tuning import Tuning as Tuning
    from .modelling.tuning import tune as tune
    from .passes.merging import merge as merge
    from .passes.tally import Tally as Tally
    from .results.across import AcrossDatasets as AcrossDatasets
    from .results.across import across_datasets as across_datasets
    from .results.api import assess as assess
    from .results.api import assess_table as assess_table
    from .results.api import assess_tally as assess_tally
    from .results.api import compare as compare
    from .results.api import compare_tally as compare_tally
    from .results.api import decide as decide
    from .results.api import partition_scaling as partition_scaling
    from .results.assessment import Assessment as Assessment
    from .results.comparison import Comparison as Comparison
    from .results.decisions import Decision as Decision
    from .results.hypothesis_tests import McNemar as McNemar
    from .results.hypothesis_tests import mcnemar as mcnemar
    from .results.verdicts import Verdict as Verdict
    from .results.verdicts import ranking_table as ranking_table

__version__ = "0.1.0"

_HOMES = {
    "results.api": (
        "assess",
        "assess_table",
        "assess_tally",
        "compare",
        "compare_tally",
        "decide",
        "partition_scaling",
    ),
    "results.assessment": ("Assessment",),
    "results.across": ("AcrossDatasets", "across_datasets"),
    "results.comparison": ("Comparison",),
    "results.hypothesis_tests": ("McNemar", "mcnemar"),
    "results.verdicts": ("Verdict", "ranking_table"),
    "modelling.deviations": ("intrinsic_sd", "measurement_sd", "total_sd"),
    "modelling.population": ("PopulationErrors", "class_probabilities", "expected_sqe", "population_errors"),
    "modelling.response": ("Response", "fit_response"),
    "modelling.cut_rules": ("CutClassifier", "RegressionRule"),
    "results.decisions": ("Decision",),
    "core.errors": ("SteelyardError",),
    "core.estimate": ("Deviation", "Estimate"),
    "measures": ("all_measures", "find"),
    "families.partition.partition_scaling": ("PartitionScaling",),
    "families.partition.memberships": ("membership_precision", "separability", "standardise"),
    "measures.registry": ("Measure", "measure", "proportion"),
    "modelling.cross": ("cross_assess",),
    "modelling.cross_assessment": ("CrossAssessment",),
    "modelling.permutation_test": ("PermutationTest", "permutation_test"),
    "modelling.splits": ("Bootstrap",),
    "modelling.scoring": ("scorer",),
    "modelling.tuning": ("TunedClassifier", "Tuning", "tune"),
    "core.scale": ("Continuum", "Scale"),
    "core.table": ("Table",),
    "passes.merging": ("merge",),
    "passes.tally": ("Tally",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
# For `from steelyard import *` and help(), which do not ask for names that are not loaded yet.
__all__ = sorted(_HOME_OF)  # noqa: PLE0605  (a list, made of what stands above)


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module(".core.errors", __name__)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    """What there is for users; modules that happen to be loaded are not."""
    return sorted({"errors", *_HOME_OF, *(name for name in globals() if name.startswith("__"))})
