"""Measures of how well a score sets the rows of a class apart from the rest, whatever the threshold.

``positive`` and ``negative`` are the mass of the class and that of the rest at each distinct score, in the last axis,
from the highest score to the lowest; ``hits`` and ``alarms`` are what is at each score and above: the hits and the
false alarms of a threshold there.

A score has as many influences as rows, too many for a complex step each. So a formula comes with its slopes: the
derivatives of its value by the mass of the class and by that of the rest at each score. A law holds every pair of
them against each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.columns import as_number
from ..core.errors import BadOption, quoted
from ..core.threads import in_pieces
from .masses import Influences, Line, by_count, where_untied
from .registry import measure

if TYPE_CHECKING:
    from ..core.typing import Array, Marks, Places

Slopes = tuple[Any, ...]  # by the mass of the class, and by that of the rest

HANLEY = "Hanley & McNeil (1982), Radiology 143(1), 29-36; DeLong et al. (1988), Biometrics 44, 837-845"
ROUNDING = 1e-12
BY_STEPS = "the mean of precision where each row of the class is found (steps); trapezoids give another number"
EMPTY = "{class}: a class or the rest has no rows, and nothing to be ranked against"


def _product(first: Any, second: Any) -> Any:
    """The sum over the scores of a product. Not a product of vectors: for those, threads are started that cost more."""
    return np.einsum("...i,...i->...", first, second)


def _from_here(values: Array) -> Array:
    """Sums over each score and all below it."""
    return np.cumsum(values[::-1])[::-1]


def auc_slopes(positive: Array, negative: Array, hits: Array, alarms: Array, value: float) -> Slopes:
    """How far the placements of DeLong et al. lie from their mean: the rest below a score, the class above it."""
    here, there = hits[-1], alarms[-1]

    def placements(own: Array, up: Array, other: Array, right: Array) -> Slopes:
        return (1 - (right - other / 2) / there - value) / here, ((up - own / 2) / here - value) / there

    return in_pieces(placements, positive, hits, negative, alarms)


@measure(
    better="higher", chance=0.5, undefined=EMPTY, cite=HANLEY, title="AUC", slopes=auc_slopes, corners=True,
    aliases=("auc_ovr", "auroc", "roc_auc", "c_statistic"),
)  # fmt: skip
def auc(positive: Any, negative: Any, hits: Any) -> Any:
    """How often a row of the class scores above one of the rest; a tie is half: P(s+ > s-) + P(s+ = s-) / 2."""
    above = _product(hits, negative) - _product(positive, negative) / 2
    return above / (hits[..., -1] * negative.sum(axis=-1))


@by_count(auc)
def auc_by_count(above: float, size: float, rest: float) -> tuple[float, Line, Line]:
    """Counts of the other side are the placements."""
    pairs = size * rest
    value = 1 - above / pairs
    return value, ((1 - value) / size, -1 / pairs), (-value / rest, 1 / pairs)


def gini_slopes(positive: Array, negative: Array, hits: Array, alarms: Array, value: float) -> Slopes:
    """Twice those of the AUC."""
    of_class, of_rest = auc_slopes(positive, negative, hits, alarms, (value + 1) / 2)
    return 2 * of_class, 2 * of_rest


@measure(
    better="higher", span=(-1.0, 1.0), chance=0.0, undefined=EMPTY, title="Gini coefficient", slopes=gini_slopes,
    corners=True, special=True, aliases=("accuracy_ratio", "gini_coefficient"),
    cite="Engelmann, Hayden & Tasche (2003), Risk 16(1), 82-86",
)  # fmt: skip
def gini(positive: Any, negative: Any, hits: Any) -> Any:
    """How much more often a row of the class scores above one of the rest than below it: 2 AUC - 1."""
    return 2 * auc(positive, negative, hits) - 1


@by_count(gini)
def gini_by_count(above: float, size: float, rest: float) -> tuple[float, Line, Line]:
    """Twice those of the AUC."""
    value, of_class, of_rest = auc_by_count(above, size, rest)
    return 2 * value - 1, (2 * of_class[0], 2 * of_class[1]), (2 * of_rest[0], 2 * of_rest[1])


@measure(
    better="higher", chance=0.5, undefined=EMPTY, title="Hand-Till AUC", slopes=auc_slopes, balanced=True, corners=True,
    special=True,
    cite="Hand & Till (2001), Machine Learning 45, 171-186",
)  # fmt: skip
def hand_till_auc(positive: Any, negative: Any, hits: Any) -> Any:
    """AUC over all pairs of classes, averaged; that of a class is its AUC against each other class, averaged."""
    return auc(positive, negative, hits)


def partial_range(ends: Any) -> tuple[float, float]:
    """The range of one less specificity that is looked at."""
    try:
        low, high = sorted(as_number(end) for end in ends)
    except (TypeError, ValueError):
        raise BadOption(f"{quoted(ends)} is no range", mend="Give two numbers: specificity=(0.9, 1.0)") from None
    if not 0 <= low < high <= 1:
        raise BadOption(f"the range {quoted(ends)} is not within 0 and 1", mend="As in specificity=(0.9, 1.0)")
    return 1 - high, 1 - low


class Stretches(NamedTuple):
    """The straight lines that a ROC curve is made of, and the piece of each that lies within a range of the x-axis."""

    left: Any
    right: Any
    down: Any
    up: Any
    enter: Any
    leave: Any

    @classmethod
    def of(cls, positive: Any, negative: Any, hits: Any, alarms: Any, ends: tuple[float, float]) -> Stretches:
        """Draw the curve."""
        right, up = alarms / alarms[..., -1:], hits / hits[..., -1:]
        left, down = (alarms - negative) / alarms[..., -1:], (hits - positive) / hits[..., -1:]
        return cls(left, right, down, up, np.clip(left, *ends), np.clip(right, *ends))

    @property
    def middle(self) -> Any:
        """Where along its line the middle of each piece is; 0 where the curve goes straight up."""
        width, reach = self.right - self.left, (self.enter - self.left) + (self.leave - self.left)
        return np.divide(reach, 2 * width, out=np.zeros_like(width), where=width > 0)

    @property
    def area(self) -> Any:
        """The area under the pieces."""
        return ((self.leave - self.enter) * (self.down + self.middle * (self.up - self.down))).sum(axis=-1)

    def by_corner(self, ends: tuple[float, float]) -> tuple[Array, Array]:
        """Slopes of the area by the height of each corner of the curve, and by its place on the x-axis."""
        left, right, down, up, enter, leave = self
        width, rise = right - left, up - down
        by_up, by_down = (leave - enter) * self.middle, (leave - enter) * (1 - self.middle)
        tilt = np.divide(rise, 2 * width**2, out=np.zeros_like(up), where=width > 0)
        by_left = tilt * ((leave - right) ** 2 - (enter - right) ** 2)
        by_right = -tilt * ((leave - left) ** 2 - (enter - left) ** 2)
        # A line that goes straight up tilts half its rise into the range when one of its ends is moved.
        straight = np.where(width > 0, 0.0, -rise / 2 * _inside(right, *ends))
        by_left, by_right = by_left + straight, by_right + straight
        # The end of a line is the start of the next one.
        return by_up + np.append(by_down[1:], 0.0), by_right + np.append(by_left[1:], 0.0)


def _inside(place: Array, start: float, stop: float) -> Array:
    """Whether a place is within a range: half where it is at an end from which it could move either way."""
    near = [(end, np.abs(place - end) < 1e-12) for end in (start, stop)]
    inside = ((place > start) & (place < stop)).astype(np.float64)
    for end, at in near:
        inside = np.where(at, 1.0 if end in (0.0, 1.0) else 0.5, inside)
    return inside


def partial_auc_slopes(
    positive: Array,
    negative: Array,
    hits: Array,
    alarms: Array,
    *,
    specificity: Any = (0.9, 1.0),
    sensitivity: Any = (),
    corrected: bool = True,
) -> Slopes:
    """By the corners of the curve, each of which is moved by all mass above it."""
    if np.size(sensitivity):
        turned = from_the_side(positive, negative, hits, alarms)
        slopes = partial_auc_slopes(*turned, specificity=sensitivity, corrected=corrected)
        return slopes[1][::-1], slopes[0][::-1]
    ends = partial_range(specificity)
    curve = Stretches.of(positive, negative, hits, alarms, ends)
    by_height, by_place = curve.by_corner(ends)
    factor = 0.5 / _most_and_least(*ends)[0] if corrected else 1.0
    return (
        factor * (_from_here(by_height) - _product(by_height, curve.up)) / hits[-1],
        factor * (_from_here(by_place) - _product(by_place, curve.right)) / alarms[-1],
    )


def from_the_side(positive: Any, negative: Any, hits: Any, alarms: Any) -> tuple[Any, Any, Any, Any]:
    """The same curve with specificity as a function of sensitivity: classes swapped, scores turned round."""
    below, missed = alarms[..., -1:] - alarms + negative, hits[..., -1:] - hits + positive
    return negative[..., ::-1], positive[..., ::-1], below[..., ::-1], missed[..., ::-1]


def _most_and_least(start: float, stop: float) -> tuple[float, float]:
    """How far the best area in a range is above that of guessing, and the latter."""
    least = (stop**2 - start**2) / 2
    return (stop - start) - least, least


def partial_auc_span(specificity: Any, sensitivity: Any, corrected: bool) -> tuple[float, float]:
    """From no area to all that there is in a range; rescaled, that may begin below 0."""
    start, stop = partial_range(sensitivity if np.size(sensitivity) else specificity)
    if not corrected:
        return 0.0, stop - start
    beyond, least = _most_and_least(start, stop)
    return min(0.5 * (1 - least / beyond), 0.0), 1.0


@measure(
    better="higher", undefined=EMPTY, title="partial AUC", slopes=partial_auc_slopes, corners=True, special=True,
    spanned=partial_auc_span, cite="McClish (1989), Medical Decision Making 9(3), 190-195",
)  # fmt: skip
def partial_auc(
    positive: Any,
    negative: Any,
    hits: Any,
    alarms: Any,
    *,
    specificity: Any = (0.9, 1.0),
    sensitivity: Any = (),
    corrected: bool = True,
) -> Any:
    """Area under the ROC curve in a range of specificity (or sensitivity), rescaled: 1 is perfect, 0.5 guessing.

    With corrected=False the area itself.
    """
    if np.size(sensitivity):
        turned = from_the_side(positive, negative, hits, alarms)
        return partial_auc(*turned, specificity=sensitivity, corrected=corrected)
    ends = partial_range(specificity)
    area = Stretches.of(positive, negative, hits, alarms, ends).area
    if not corrected:
        return area
    beyond, least = _most_and_least(*ends)
    return 0.5 * (1 + (area - least) / beyond)


def average_precision_slopes(positive: Array, hits: Array, alarms: Array, value: float) -> Slopes:
    """A row adds its own precision, and moves the precision of all rows of the class below it."""
    found, total = hits + alarms, hits[-1]
    share, precision = _ratio(positive, found) / total, _ratio(hits, found)
    below = _from_here(share * precision)
    return (precision - value) / total + _from_here(share) - below, -below


def least_average_precision(positive: Array, negative: Array, mixed: Marks) -> float:
    """Where rows are mixed, the class comes last, one row after the other.

    Precision rises with each of them; its sum over rows is no less than its integral.
    """
    hits, alarms = np.cumsum(positive), np.cumsum(negative)
    together = positive * _ratio(hits, hits + alarms)
    start = hits - positive + alarms
    growth = np.log1p(np.divide(positive, start, out=np.zeros_like(start), where=start > 0))
    return float(np.where(mixed, positive - alarms * growth, together).sum() / hits[-1])


@measure(
    better="higher", undefined=EMPTY, title="average precision", slopes=average_precision_slopes, special=True,
    least=least_average_precision, cite="Su, Yuan & Zhu (2015), Proc. ICTIR, 349-352",
    cautions=dict.fromkeys(("pr_auc", "auprc", "auc_pr", "area_under_pr_curve"), BY_STEPS),
)  # fmt: skip
def average_precision(positive: Any, hits: Any, alarms: Any) -> Any:
    """Precision where each row of the class is found, going down the scores, averaged over these rows."""
    value = _product(positive, _ratio(hits, hits + alarms)) / hits[..., -1]
    return np.where(alarms[..., -1] > 0, value, np.nan)


@where_untied(average_precision)
def average_precision_untied(alarms: Places, hits: Places) -> tuple[float, Influences]:
    """Precision matters at rows of the class alone; a row of the rest moves those below it."""
    total = len(alarms)

    def at_rows(above: Array, rank: Array) -> Slopes:
        found = above + rank
        return rank / found, 1 / (found * total), rank / (found * found * total)

    precision, share, product = in_pieces(at_rows, alarms, np.arange(1.0, total + 1))
    value = float(precision.mean())
    lost, below = _from_here(share), np.append(_from_here(product), 0.0)
    return value, (
        lambda rows: (precision[rows] - value) / total + lost[rows] - below[rows],
        lambda rows: -below[hits[rows]],
    )


def _ratio(part: Any, whole: Any) -> Any:
    """A share, 0 of nothing: before the first row that weighs anything there is none."""
    if whole[..., :1].all():  # it only grows
        return part / whole
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _losses(chance: Array, share: float) -> Slopes:
    """What a missed row of the class costs, and a false alarm, where it is called by its chance of being one.

    The cost of a false alarm, c, has the density Beta(1 + share, 1 + 1 - share), that of a miss is 1 - c; a row is
    called as long as c is below its chance. Both integrals over c are incomplete Beta functions.
    """
    from scipy.special import betainc, betaincc

    a, b = 1 + share, 2 - share
    return b / 3 * betaincc(a, b + 1, chance), a / 3 * betainc(a + 1, b, chance)


def _best_chances(positive: Array, negative: Array) -> Array:
    """The chance of the class at each score, never rising as scores fall: the slopes of the ROC curve's hull."""
    from scipy.optimize import isotonic_regression

    mass = positive + negative
    fitted = isotonic_regression(positive / np.where(mass > 0, mass, 1.0), weights=np.where(mass > 0, mass, 1e-300),
                                 increasing=False)  # fmt: skip
    return np.clip(fitted.x, 0.0, 1.0)


def _loss(positive: Array, negative: Array, chance: Array, share: float) -> tuple[Array, Slopes, Slopes]:
    """What is lost on average with the best thresholds for all costs, which are weighed by the share of the class.

    Returns:
        The loss with the score and without it; what is lost on a row of the class at each score, and without; and what
        is lost on a row of the rest.
    """
    fresh = np.append(True, chance[1:] != chance[:-1])  # chances only fall, so equal ones stand together
    lengths = np.diff(np.flatnonzero(fresh), append=len(chance))
    miss, alarm = (np.repeat(losses, lengths) for losses in _losses(chance[fresh], share))
    blind = _losses(np.array(positive.sum() / (positive.sum() + negative.sum())), share)
    with_score = _product(positive, miss) + _product(negative, alarm)
    without = positive.sum() * blind[0] + negative.sum() * blind[1]
    total = np.array([with_score, without]) / (positive.sum() + negative.sum())
    return total, (miss, float(blind[0])), (alarm, float(blind[1]))


def h_measure_slopes(positive: Array, negative: Array) -> Slopes:
    """By the losses at the best thresholds, which stay the best to first order; and by the share that weighs costs."""
    mass, step = positive.sum() + negative.sum(), 1e-5
    chance, share = _best_chances(positive, negative), positive.sum() / mass
    (with_score, without), of_class, of_rest = _loss(positive, negative, chance, share)
    more, less = (_loss(positive, negative, chance, share + shift)[0] for shift in (step, -step))
    by_share = (more - less) / (2 * step)

    def slope(lost: Slopes, moved: float) -> Array:
        here = (lost[0] - with_score + by_share[0] * moved) / mass
        there = (lost[1] - without + by_share[1] * moved) / mass
        return np.asarray((with_score * there / without - here) / without)

    return slope(of_class, 1 - share), slope(of_rest, -share)


def fair_h_measure(positive: Array, negative: Array, row: float) -> float:
    """The H-measure with losses halfway between those at the best thresholds and those where a row has no say in them.

    Thresholds that are the best for the rows at hand lose too little on these, and by about as much too much on others.
    A row has no say in its own threshold where it is left out of the rows whose chance of the class is the same;
    ``row`` is what one independent row weighs.
    """
    share = positive.sum() / (positive.sum() + negative.sum())
    chance = _best_chances(positive, negative)
    block = np.cumsum(np.append(0, np.diff(chance) < -ROUNDING))  # chances only fall
    own, every = (np.bincount(block, mass) for mass in (positive, positive + negative))
    others = np.maximum(every - row, 1e-9 * row)
    total, of_class, of_rest = _loss(positive, negative, chance, share)
    without = [_losses(np.clip(each / others, 0.0, 1.0), share) for each in (np.maximum(own - row, 0.0), own)]
    by_class, by_rest = of_class[0] + without[0][0][block], of_rest[0] + without[1][1][block]
    lost = _product(positive, by_class) + _product(negative, by_rest)
    mean = lost / 2 / (positive.sum() + negative.sum())
    return float(np.clip(1 - mean / total[1], 0.0, 1.0))


@measure(
    better="higher", chance=0.0, undefined=EMPTY, title="H-measure", slopes=h_measure_slopes, corners=True,
    special=True, fair=fair_h_measure,
    cite="Hand (2009), Machine Learning 77, 103-123; Hand & Anagnostopoulos (2014), Pattern Recogn. Lett. 40, 41-46",
)  # fmt: skip
def h_measure(positive: Any, negative: Any) -> Any:
    """Loss saved by the score, as a share of what is lost without it, over all costs, each at its best threshold.

    Costs have the density Beta(1 + share of the class, 1 + share of the rest). The best thresholds are found on the
    same rows, so that the value is too high in small samples, most where the score tells little; the interval knows of
    that.
    """
    if positive.ndim > 1:
        rows = zip(positive.reshape(-1, positive.shape[-1]), negative.reshape(-1, negative.shape[-1]), strict=True)
        return np.array([h_measure(*row) for row in rows]).reshape(positive.shape[:-1])
    share = positive.sum() / (positive.sum() + negative.sum())
    if not 0 < share < 1:
        return np.float64(np.nan)
    with_score, without = _loss(positive, negative, _best_chances(positive, negative), share)[0]
    return np.maximum(1 - with_score / without, 0.0)
