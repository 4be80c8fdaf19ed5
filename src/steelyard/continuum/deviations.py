"""How far measurements scatter, and how much of that is the measuring: standard deviations with what is known of them.

A measured value is z = f(x) + ε + δ: what is expected of the covariates, what they do not tell, and the error of the
measurement. Replicates of one object show δ alone, separate objects with the same covariates show both, and ε is what
is left (Mevik 2003, section 8.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..columns import as_number
from ..door.covariates import design, finite_numbers, grouping
from ..errors import BadDeviation, BadOption, TooFewRows, quoted, refuse_length
from ..scale import LARGEST
from ..suggestions import refuse_unknown

if TYPE_CHECKING:
    from ..kinds import AnyArray, Array

Method = Literal["design", "residual", "local"]
LEAST_FREEDOM = 0.1  # fewer degrees tell nothing, and their quantiles are beyond all numbers
MOST_ROWS = 1_500  # of local regression, whose cost grows with the cube of their number


@dataclass(frozen=True)
class Deviation:
    """A standard deviation and how well it is known.

    Attributes:
        sd: The standard deviation.
        freedom: Degrees of freedom of its square; infinite where it is known.
        truncated: Whether a difference of variances came out negative, so that 0 stands for it.
        method: How it was found.
        parts: The two whose squares were subtracted, where it is a difference: the whole and what was taken from it.
    """

    sd: float
    freedom: float = math.inf
    truncated: bool = False
    method: str = ""
    parts: tuple[Deviation, Deviation] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be a standard deviation."""
        if not 0 <= as_number(self.sd) < math.inf:
            problem = f"sd is {quoted(self.sd)}"
            raise BadDeviation(problem, mend="A standard deviation is a finite number, 0 or above")
        if not as_number(self.freedom) >= 0:
            raise BadOption(f"freedom is {quoted(self.freedom)}", mend="Degrees of freedom are 0 or more")
        method: object = self.method
        if not isinstance(method, str):
            raise BadOption(f"method is {quoted(method)}", mend="Say in words how it was found")
        if self.parts is not None and not _is_pair(self.parts):
            mend = "Give a pair of Deviation: the whole, and what was taken from it"
            raise BadOption(f"parts is {quoted(self.parts)}", mend=mend)

    def __float__(self) -> float:
        """The standard deviation."""
        return self.sd

    @property
    def error(self) -> float:
        """The standard error of the variance, the square of the standard deviation."""
        if self.parts is None:
            return math.sqrt(2 / self.freedom) * self.sd**2 if self.freedom > 0 else math.inf
        return math.hypot(*(part.error for part in self.parts))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Bounds of the standard deviation, for normal errors.

        By the chi-squared distribution; that of a difference of variances by the modified large-sample method of
        Ting, Burdick, Graybill, Jeyaratnam & Lu (1990), J. Statistical Computation and Simulation 35, 135-143.
        """
        if not 0 < as_number(level) < 1:
            raise BadOption(f"level is {quoted(level)}", mend="Give a number between 0 and 1, such as 0.95")
        tail = (1 - level) / 2
        if self.parts is not None:
            low, high = _difference_bounds(*self.parts, tail)
        else:
            falls, rises = _shifts(self.freedom, tail)
            low, high = self.sd**2 * (1 - falls), self.sd**2 * (1 + rises)
        return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))

    def __str__(self) -> str:
        """The value, its interval, and where it comes from."""
        known = math.isinf(self.freedom)
        low, high = self.interval()
        text = f"{self.sd:.4g}" if known else f"{self.sd:.4g} [{low:.4g}, {high:.4g}]"
        if self.truncated and self.parts is not None:
            whole, part = (each.sd for each in self.parts)
            return f"{text}: measurement error {part:.4g} exceeds all scatter {whole:.4g}, so 0 stands for the rest"
        if known:
            return f"{text} ({self.method or 'known'})"
        return f"{text} ({self.method or 'estimated'}, {self.freedom:.4g} degrees of freedom)"


def _is_pair(parts: object) -> bool:
    return isinstance(parts, tuple) and len(parts) == 2 and all(isinstance(part, Deviation) for part in parts)


def _shifts(freedom: float, tail: float) -> tuple[float, float]:
    """By what shares of itself a variance must be lowered and raised to reach the bounds of its interval."""
    from scipy.special import chdtri

    if math.isinf(freedom):
        return 0.0, 0.0
    low, high = float(chdtri(freedom, 1 - tail)), float(chdtri(freedom, tail))
    return 1 - freedom / high if high > 0 else 1.0, freedom / low - 1 if low > 0 else math.inf


def _difference_bounds(whole: Deviation, part: Deviation, tail: float) -> tuple[float, float]:
    """Bounds of a difference of two independent variances."""
    first, second = whole.sd**2, part.sd**2
    falls, rises = _shifts(whole.freedom, tail)
    part_falls, part_rises = _shifts(part.freedom, tail)
    if min(whole.freedom, part.freedom) < LEAST_FREEDOM:
        # Of one of them nothing is known: what is taken away may be anything, and what it is taken from.
        return 0.0, first * (1 + rises) if whole.freedom >= LEAST_FREEDOM else math.inf
    few, many = (_ratio(whole.freedom, part.freedom, probability) for probability in (tail, 1 - tail))
    # The cross terms make the bounds exact where the difference is 0.
    below = ((many - 1) ** 2 - (falls * many) ** 2 - part_rises**2) / many
    above = ((1 - few) ** 2 - (rises * few) ** 2 - part_falls**2) / few
    low = (falls * first) ** 2 + (part_rises * second) ** 2 + below * first * second
    high = (rises * first) ** 2 + (part_falls * second) ** 2 + above * first * second
    return first - second - math.sqrt(max(low, 0.0)), first - second + math.sqrt(max(high, 0.0))


def _ratio(freedom: float, other: float, probability: float) -> float:
    """A quantile of the ratio of two independent estimates of one variance."""
    from scipy.special import chdtri, fdtri

    if math.isinf(freedom):
        return 1.0 if math.isinf(other) else other / float(chdtri(other, probability))
    if math.isinf(other):
        return float(chdtri(freedom, 1 - probability)) / freedom
    return float(fdtri(freedom, other, probability))


# --- the three deviations -------------------------------------------------------------------------------------------


def measurement_sd(values: Any, object_id: Any) -> Deviation:
    """The standard deviation of the measurement error, from objects that were measured more than once.

    Args:
        values: The measurements.
        object_id: Which object each one was made on.
    """
    column = finite_numbers(values, "values")
    codes = grouping(object_id, len(column), "object_id")
    found = _pooled(column, codes, "pooled within objects")
    if found is None:
        raise TooFewRows(
            "no object was measured twice",
            column="object_id",
            mend="The measurement error shows only where an object is measured more than once",
        )
    return found


def total_sd(
    values: Any,
    covariates: Any = None,
    method: Method = "design",
    predicted: Any = None,
    parameters: float | None = None,
) -> Deviation:
    """The standard deviation of measurements around what their covariates let expect: of ε + δ.

    Args:
        values: The measurements, one an object.
        covariates: A table of the covariates, one row an object; residuals do not need it.
        method: ``"design"`` pools within objects with equal covariates, which must be separate objects: replicates of
            one object show the measurement error alone. ``"residual"`` takes the residuals of a regression, and errs
            by what that does not fit. ``"local"`` needs no model: each row is predicted by a plane through its
            neighbours; it errs upwards where the surface bends within their reach.
        predicted: For residuals: what the regression says of the same rows.
        parameters: For residuals: how many parameters were fitted to these rows; None where every row was predicted
            by a regression that had not seen it.
    """
    column = finite_numbers(values, "values")
    refuse_unknown("method", method, ("design", "residual", "local"))
    if method == "residual":
        return _of_residuals(column, predicted, parameters)
    if predicted is not None or parameters is not None:
        name = "parameters" if predicted is None else "predicted"
        raise BadOption(f"the method {quoted(method)} takes no {name}=", mend="Leave it out, or say method='residual'")
    if covariates is None:
        raise BadOption(f"the method {quoted(method)} needs covariates", mend="Give them, one row an object")
    table = design(covariates)
    refuse_length("covariates", len(table), len(column), "values")
    if method == "local":
        return _local(column, table)
    codes = np.unique(table + 0.0, axis=0, return_inverse=True)[1].ravel()  # -0.0 is 0.0
    found = _pooled(column, codes, "pooled within equal covariates")
    if found is None:
        raise TooFewRows(
            "no two objects have the same covariates",
            column="covariates",
            mend="Say method='local', or method='residual' with what a regression predicts",
        )
    return found


def intrinsic_sd(total: Any, measurement: Any) -> Deviation:
    """The standard deviation of ε, what the covariates do not tell: sqrt(max(0, Var(ε + δ) - Var(δ))).

    Args:
        total: That of ε + δ: a number, or what ``total_sd`` found.
        measurement: That of the measurement error: a number, or what ``measurement_sd`` found on other measurements.
    """
    whole, part = _deviation(total, "total"), _deviation(measurement, "measurement")
    if whole.parts is not None:
        # A difference scatters unlike any plain variance, and of one that 0 stands for nothing else is known.
        whole, taken = whole.parts
        part = _sum(taken, part)
    left = whole.sd**2 - part.sd**2
    spread = math.hypot(whole.error, part.error) / math.sqrt(2)
    sure = math.isinf(whole.freedom) and math.isinf(part.freedom)
    # A difference has the degrees of freedom of a plain variance that is relatively as unsure (Satterthwaite).
    freedom = math.inf if sure or not spread else max(left, 0.0) ** 2 / spread**2
    return Deviation(math.sqrt(max(left, 0.0)), freedom, left < 0, "difference of variances", (whole, part))


def _sum(one: Deviation, other: Deviation) -> Deviation:
    """That of the sum of two independent errors, with degrees of freedom by Satterthwaite."""
    sd, error = math.hypot(one.sd, other.sd), math.hypot(one.error, other.error)
    return Deviation(sd, 2 * sd**4 / error**2 if error else math.inf, method="sum of variances")


def _deviation(value: Any, name: str) -> Deviation:
    if isinstance(value, Deviation):
        return value
    number = as_number(value)
    if not 0 <= number <= LARGEST:
        raise BadDeviation(f"{name} is {quoted(value)}", mend="Give a number, 0 or above, whose square is finite")
    return Deviation(number, method="given")


def _pooled(values: Array, codes: AnyArray, method: str) -> Deviation | None:
    """The standard deviation within groups; None where no group has two."""
    count = np.bincount(codes)
    freedom = int(np.maximum(count - 1, 0).sum())
    if not freedom:
        return None
    centre = np.bincount(codes, values) / np.maximum(count, 1)
    return Deviation(math.sqrt(float(np.square(values - centre[codes]).sum()) / freedom), float(freedom), method=method)


def _of_residuals(values: Array, predicted: Any, parameters: float | None) -> Deviation:
    if predicted is None:
        raise BadOption("residuals need predictions", mend="Give predicted=, what a regression says of these rows")
    fitted = finite_numbers(predicted, "predicted")
    refuse_length("predicted", len(fitted), len(values), "values")
    spent = 0.0 if parameters is None else as_number(parameters)
    if not 0 <= spent < math.inf:
        raise BadOption(f"parameters is {quoted(parameters)}", mend="Give how many were fitted, or None for none")
    freedom = len(values) - spent
    if freedom <= 0:
        problem = f"{len(values)} rows do not tell of the scatter around {spent:g} parameters"
        raise TooFewRows(problem, column="values", mend="Give more rows, or predictions of rows left out")
    method = "residuals of rows left out" if parameters is None else f"residuals, {spent:g} parameters"
    return Deviation(math.sqrt(float(np.square(values - fitted).sum()) / freedom), freedom, method=method)


def _local(values: Array, table: Array) -> Deviation:
    from .local_regression import local_variance, standardised

    method = "local linear regression"
    if len(values) > MOST_ROWS:
        chosen = np.random.default_rng(0).permutation(len(values))[:MOST_ROWS]
        values, table, method = values[chosen], table[chosen], f"{method} of {MOST_ROWS:,} rows drawn at random"
    needed = standardised(table).shape[1] + 3
    if len(values) < needed:
        raise TooFewRows(
            f"{len(values)} rows are too few for planes through {needed - 3} covariates",
            column="covariates",
            mend=f"Give {needed} rows or more, or leave out covariates",
        )
    found = local_variance(values, table)
    return Deviation(math.sqrt(found.variance), found.freedom, method=method)
