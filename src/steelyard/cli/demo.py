"""The command line of the demonstration: what can be asked, on data that come with the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..core.errors import BadOption
from ..data.terminal import told, working
from .options import HELD

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core.estimate import Estimate
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison

MODELS = {name: f"{name}_*" for name in ("lda", "qda", "knn")}
SHOWN = ("error", "auc", "log_score")
COMPARE = (
    "steelyard compare iris.csv --truth species",
    *[f"    --model {name}='{columns}'" for name, columns in MODELS.items()],
)
THRESHOLD = (
    "steelyard thresholds iris.csv --truth species --membership lda_virginica",
    "    --event virginica --where \"species != 'setosa'\"",
    "    --choose 'max specificity where sensitivity >= 0.95'",
)
SCORE = ("steelyard assess forecasts.csv --truth y --membership 'p_*'", "    --measures log_score,brier")
ASKED = (
    "150 irises of three species, Fisher's. Three classifiers told the species by the size of the sepals alone, "
    "each flower by a fit that had not seen it. Which one should be used?\n"
)
NEXT = """What to run on your own predictions:

  steelyard assess  yours.csv --truth COLUMN --assigned COLUMN
  steelyard compare yours.csv --truth COLUMN --model NAME=COLUMNS --model ...
  steelyard compare yours.csv ... --html page.html               a page to send
  steelyard assess  yours.csv ... --require 'error.high < 0.1'   a gate: 0 or 1
  steelyard --help                                               all the rest"""


def demo(
    *,
    html: Annotated[Path | None, Parameter(help="Write the whole comparison to this file, as a page.")] = None,
    force: Annotated[bool, Parameter(help="Replace the file even if it is not a report.")] = False,
) -> int:
    """Compare three classifiers of irises and score five forecasts, on data that comes with the package."""
    from ..results import api

    if html == Path("-"):
        raise BadOption("standard output is taken by the demonstration", mend="Name a file: --html page.html")
    data = resources.files("steelyard") / "data" / "examples"
    five = data / "forecasts.csv"
    with working("weighing"), resources.as_file(data / "iris.csv") as file, resources.as_file(five) as forecasts:
        compared = api.compare(file, MODELS, truth="species", measures=SHOWN)
        alone = api.assess(
            file, truth="species", membership="lda_virginica", event="virginica", where="species != 'setosa'"
        )
        scored = api.assess(forecasts, truth="y", membership="p_*", measures=("log_score", "brier"))
        told(ASKED, *_better(compared), *_sure(compared), *_threshold(alone), *_forecasts(scored))
        if html is not None:
            whole = api.compare(file, MODELS, truth="species")
            whole.report(
                html, overwrite=force, title="Three classifiers of irises", command=" ".join(map(str.strip, COMPARE))
            )
            told(*_command("5. All of it, as a page to look at and to send", ()), f"It is in {html}.\n")
    told(NEXT)
    return HELD


def _better(compared: Comparison) -> list[RenderableType]:
    from ..display.grids import side_by_side

    return [
        *_command("1. Who is better?", COMPARE),
        side_by_side(compared).turned("model"),  # 80 columns are not enough for three of them side by side
        compared.verdict("error").words(numbers=False),
        "Values stand before their 95% intervals; ↓ is better low, ↑ high. The log score of knn is infinite, because "
        "it gave some species no chance at all, and they came.\n",
    ]


def _sure(compared: Comparison) -> list[RenderableType]:
    from ..core.table import table_view
    from ..core.text import number

    first, last = "lda", "knn"
    gap = next(row for row in compared.differences("error") if (row["a"], row["b"]) == (first, last))
    return [
        *_command("2. How sure is that?", ()),
        f"Of 100 flowers, {last} errs on {-100 * gap['difference']:.1f} more than {first}, but of others that could be "
        f"{-100 * gap['high']:.1f} to {-100 * gap['low']:.1f} more: p = {number(gap['p'])}. Few flowers decide it. The "
        "first of them, to be looked at before anybody believes it:",
        table_view(compared.deciding_rows("error", first, last, 4)),
    ]


def _threshold(alone: Assessment) -> list[RenderableType]:
    found = alone.best_threshold("specificity", where="sensitivity >= 0.95")
    (here, elsewhere) = found.limits[0]
    return [
        *_command("3. Where to set the threshold, if 95% of virginica must be found?", THRESHOLD),
        f"Call a flower virginica from a probability of {found.threshold:.3f} on. That finds {_share(here)} of the "
        f"virginica, and leaves {_share(found.value)} of the versicolor alone. A threshold looks best on the flowers "
        f"that it was chosen on: of others it finds {_share(elsewhere)} and leaves {_share(found.honest)}.\n",
    ]


def _forecasts(scored: Assessment) -> list[RenderableType]:
    log, brier = scored["log_score"], scored["brier"]
    return [
        *_command("4. How good are probabilities?", SCORE),
        "Gordon Ross's lecture Performance Assessment prints five forecasts and scores them. The log score is the sum "
        f"of -log p of the true class, {log.sum:.2f}; tables show its mean, {log.value:.3f}. The Brier score is the "
        f"mean of (p - y)², {brier.value:.3f}. For both, lower is better.\n",
    ]


def _share(found: Estimate | None) -> str:
    return "–" if found is None else f"{found.value:.0%} ({found.low:.0%} to {found.high:.0%})"


def _command(question: str, lines: tuple[str, ...]) -> list[RenderableType]:
    from rich.text import Text

    shown = [Text(" \\\n  ".join([f"  $ {lines[0]}", *lines[1:]]), style="dim")] if lines else []
    return [Text(question, style="bold"), *shown]
