"""From rows to what measures are made of: by sums alone where these are enough, and else with the rows at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .admission import Request
from .cases import Cases, Given
from .decisions import Decision
from .errors import BadOption, quoted
from .rules import Rule
from .settings import Settings
from .summing import summed
from .tally import Tally

OnError = Literal["stop", "skip"]


@dataclass(frozen=True)
class Weighed:
    """What is known of the rows.

    Attributes:
        tally: Their sums, with scores where measures need them.
        settings: How results are computed; measures that cannot be made of what there is are left out.
        cases: The rows, where they are held.
        decisions: The thresholds that were chosen.
        reread: How to get the rows where they are not.
    """

    tally: Tally
    settings: Settings
    cases: Cases | None = None
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    reread: Callable[[], Cases] | None = None


def weigh(
    request: Request,
    source: Any,
    predictions: Mapping[str, Any] | None,
    settings: Settings,
    rule: Rule,
    on_error: OnError = "stop",
) -> Weighed:
    """Sum files where counts are all that is asked for; let everything else in as a whole."""
    if on_error not in ("stop", "skip"):
        raise BadOption(f"on_error is {quoted(on_error)}", mend="Say 'stop' or 'skip'")
    streamed = None if predictions is not None else summed(request, source, settings, rule, on_error == "skip")
    if streamed is None and on_error == "skip":
        raise BadOption(
            "on_error='skip' is for files whose rows are counted, not held",
            mend="Give a path, and ask for count measures only, as in measures=['error', 'kappa']",
        )
    if streamed is not None:
        tally, scored = streamed
        return Weighed(tally, settings.fitted(Given(scored)), reread=lambda: request.admit(source, None))
    cases = request.admit(source, predictions)
    settings = settings.fitted(cases.given(rule.checks_scores))
    keep = rule.keeps_scores or settings.of_rows
    cases, decisions = rule.applied(cases, settings)
    return Weighed(Tally.of(cases, with_scores=keep), settings, cases, decisions)


def weigh_beside(request: Request, source: Any, predictions: Mapping[str, Any] | None, test: Weighed) -> Tally:
    """Sum other rows as those were that they stand beside: training data beside test data."""
    keep = test.tally.scores is not None
    rule = Rule(request.door.threshold, any_scale=request.door.any_scale)
    streamed = None if keep or predictions is not None else summed(request, source, test.settings, rule)
    return Tally.of(request.admit(source, predictions), with_scores=keep) if streamed is None else streamed[0]
