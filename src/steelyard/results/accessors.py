"""What results offer that is built above them: decisions, verdicts, pictures, reports, and how they print themselves.

This is the one module that imports from above, and it does so when it is asked: a result that is never drawn loads
nothing that draws.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# ruff: noqa: PLC0414  (as they are: for the types of results)
if TYPE_CHECKING:
    from ..display.digest import assessment_digest as assessment_digest
    from ..display.digest import comparison_digest as comparison_digest
    from ..display.digest import digest_html as digest_html
    from ..display.pictures import AcrossPictures as AcrossPictures
    from ..display.pictures import Pictures as Pictures
    from ..display.pictures import TuningPictures as TuningPictures
    from ..display.report import write_report as write_report
    from ..display.views import assessment_view as assessment_view
    from ..display.views import comparison_view as comparison_view
    from ..display.views import cross_view as cross_view
    from ..display.views import tuning_view as tuning_view
    from ..modelling.cross_intervals import by_methods as by_methods
    from .comparison import Comparison as Comparison
    from .curves import Band as Band
    from .curves import curve as curve
    from .curves import decision_curve as decision_curve
    from .curves import rejection as rejection
    from .decisions import Decision as Decision
    from .decisions import best_threshold as best_threshold
    from .decisions import threshold_table as threshold_table
    from .recalibration import lines as lines
    from .recalibration import recalibrated as recalibrated
    from .verdicts import Verdict as Verdict
    from .verdicts import judge as judge

HOMES = {
    "..display.digest": ("assessment_digest", "comparison_digest", "digest_html"),
    "..display.pictures": ("AcrossPictures", "Pictures", "TuningPictures"),
    "..display.report": ("write_report",),
    "..display.views": ("assessment_view", "comparison_view", "cross_view", "tuning_view"),
    "..modelling.cross_intervals": ("by_methods",),
    ".curves": ("curve", "decision_curve", "rejection"),
    ".decisions": ("best_threshold", "threshold_table"),
    ".recalibration": ("lines", "recalibrated"),
    ".verdicts": ("judge",),
}
HOME_OF = {name: home for home, names in HOMES.items() for name in names}
DIFFERENCES = "table() and differences() have all numbers"


def __getattr__(name: str) -> Any:
    if name not in HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(HOME_OF[name], __package__), name)
    return found
