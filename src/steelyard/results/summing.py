"""Rows that nobody holds into one tally: whether that can be done, and again without the files that cannot be used."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.columns import is_single
from ..core.errors import BadOption, SteelyardError
from ..core.scale import Continuum, Scale
from ..data import sources
from ..data.engines import make, started
from ..data.formats import estimate
from ..data.streams import Files
from ..families.summed.partitions import needs_all_rows
from ..inputs.dataset import Available
from ..inputs.request import Request
from ..passes.plan import Plan, Unusable
from ..passes.tally import Tally

if TYPE_CHECKING:
    from ..inference.settings import Settings
    from .threshold_rules import Rule

Result = TypeVar("Result")

MOST_HELD = 1 << 27  # bytes of a table: smaller ones are read as a whole


def lies_apart(source: Any, engine: Any = None) -> bool:
    """Whether rows are worked on elsewhere: files where an engine is named, and frames of Dask and Spark."""
    return make(source) is not None or (engine is not None and isinstance(source, str | os.PathLike | Files))


def can_be_summed(request: Request, source: Any, rule: Rule) -> bool:
    """Whether all that is said of rows stands in files, and nothing needs all rows at once."""
    if not isinstance(source, str | os.PathLike | Files) or request.truth is None:
        return False
    known = request.validator.knowledge
    plain = known.response is None and not any(isinstance(one, str) for one in (known.sd, known.sd_response))
    return plain and _loose(request) is None and not rule.chooses and not rule.any_scale


def _loose(request: Request) -> str | None:
    """What was said of rows but does not stand beside them in a column, or needs all rows at once."""
    validator = request.validator
    beside = {"weight": validator.weight, "group": validator.group, "sd": validator.knowledge.sd}
    beside["sd_response"] = validator.knowledge.sd_response
    for name, value in beside.items():
        if not (value is None or isinstance(value, str) or (name[:2] == "sd" and is_single(value))):
            return f"{name}= is an array"
    pair = validator.knowledge.response
    if not request.parts_are_named or not (pair is None or all(isinstance(name, str) for name in pair)):
        return "by= is an array" if pair is None else "response= is no pair of columns"
    if isinstance(validator.scale, Continuum) and validator.scale.named_after_intervals:
        return "the classes of the Continuum have no names"
    return None


def summed(
    request: Request, source: Any, settings: Settings, rule: Rule, skip: bool = False, engine: Any = None
) -> tuple[Tally, Available] | None:
    """The tally of rows that nobody holds, and what there is for measures; None where rows must be held."""
    apart = lies_apart(source, engine)
    if apart:
        _refuse_loose(request, source, skip)
    counts = settings.of_counts and not rule.keeps_scores
    passing = apart or (not counts and _is_large(request, source, settings))
    if not passing and not can_be_summed(request, source, rule):
        return None
    scored = len(request.headings) < len(request.models)
    if not (passing or counts) and (scored or isinstance(request.validator.scale, Continuum)):
        return None

    def counted(plan: Plan, scale: Scale, forms: dict[str, bool]) -> tuple[Tally, Available] | None:
        if not (passing or counts) and not all(forms.values()):
            return None
        tally = plan.tally(scale, forms)
        return tally, tally.given

    def work(plan: Plan) -> tuple[Tally, Available] | None:
        likely = plan.glimpsed()
        if likely is not None:
            with suppress(SteelyardError):  # whatever it is, it is told better when all labels are known
                return counted(plan, *likely)
        return counted(plan, *plan.settled())

    with started(engine, source) as found:
        return persisting(Plan.of(request, source, skip, found, settings if passing and not counts else None), work)


def _is_large(request: Request, source: Any, settings: Settings) -> bool:
    """Whether files hold more rows than should be held, and nothing is asked for that needs them all at once."""
    if not isinstance(source, str | os.PathLike | Files) or request.truth is None or _loose(request) is not None:
        return False
    asked = () if settings.everything else settings.measures
    if settings.resampled or any(needs_all_rows(each) for each in asked):
        return False
    with suppress(SteelyardError):  # whoever reads the files will say so
        files = sources.opened(source, request.where, request.marks)
        return estimate(files.files, request.columns_of(files)) > MOST_HELD
    return False


def _refuse_loose(request: Request, source: Any, skip: bool) -> None:
    loose = _loose(request)
    if loose is not None:
        raise BadOption(f"{loose}, and the rows are worked on elsewhere", mend="Name columns, and name the classes")
    if skip and make(source) is not None:
        raise BadOption("on_error='skip' leaves out files, and a data frame has none", mend="Leave it out")
    if request.truth is None:
        raise BadOption("there is no prediction", mend="Name the columns: assess(frame, truth=..., assigned=...)")


def persisting(plan: Plan, work: Callable[[Plan], Result]) -> Result:
    """Do something with files; where some cannot be used and may be left out, do it again without these.

    From the start: a class that only a faulty file had is then no class, and no row of it was counted.
    """
    while True:
        try:
            return work(plan)
        except Unusable as found:
            plan = plan.without(found.faults)
        except SteelyardError as error:
            if not plan.skip or error.file is None or error.file in plan.left_out:
                raise
            plan = plan.without({error.file: error})
