"""How far measurements scatter, and how much of that is the measuring: standard deviations with what is known of them.

A measured value is z = f(x) + ε + δ: what is expected of the covariates, what they do not tell, and the error of the
measurement. Replicates of one object show δ alone, separate objects with the same covariates show both, and ε is what
is left (Mevik 2003, section 8.1).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.columns import as_number
from ..core.errors import BadDeviation, BadOption, TooFewRows, quoted, refuse_length
from ..core.estimate import Deviation
from ..core.scale import LARGEST
from ..core.suggestions import refuse_unknown
from ..inputs.covariates import design, finite_numbers, grouping

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array

Method = Literal["design", "residual", "local"]
MOST_ROWS = 1_500  # of local regression, whose cost grows with the cube of their number


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
    from ..maths.smoothing import local_variance, standardised

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
    variance, freedom = local_variance(values, table)
    return Deviation(math.sqrt(variance), freedom, method=method)
