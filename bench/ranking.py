"""Measures of scores with intervals: AUC, thresholds, and everything at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from .contestants import (
    OURS,
    Contestant,
    assess_auc,
    assess_auc_bootstrap,
    assess_memberships,
    assess_one_against_rest,
    assess_thresholds,
    auc_bootstrap_interval,
    compare_auc,
    delong_interval,
    sklearn_auc,
    sklearn_auc_twice,
    sklearn_memberships,
    sklearn_one_against_rest,
    sklearn_thresholds,
)
from .plans import Plan, Targets
from .results import Contest, Section, hold, power, ratio
from .samples import Sample
from .timing import Growth, Pace

SKLEARN, INTERVALS = "scikit-learn", "confidenceinterval"
MANY_CLASSES, FEW_CLASSES = 10, 3
DECIMALS = 3
WANTED = "wanted"

AUC = (
    "Exact AUC of a score with its DeLong interval. scikit-learn computes AUC alone; confidenceinterval computes the "
    f"interval too, and nothing is wanted there but to be ahead. Tied scores are rounded to {DECIMALS} decimals."
)
ONE_AGAINST_REST = (
    f"AUC of each of {MANY_CLASSES} classes against the rest, averaged, with its interval. scikit-learn computes the "
    "average alone."
)
THRESHOLDS = (
    "F1 at every threshold, each with its interval, the assessment included. scikit-learn (`metric_at_thresholds`) "
    "has no intervals and goes through all rows anew at each threshold: it is given the same rows with their scores "
    "put together into {levels:,} levels, as the full job takes minutes, and its time is scaled up to all thresholds."
)
BOOTSTRAP = (
    "{replicates:,} bootstrap replicates of AUC, BCa interval. The peer draws {few:,} replicates, and its time is "
    "scaled up; its percentile interval spares it the jackknife that BCa needs."
)
EVERYTHING = (
    f"All default measures (of counts, AUC, log and Brier scores, skill), overall, by class and averaged, with "
    f"intervals, from memberships of {FEW_CLASSES} classes. scikit-learn computes values one by one: "
    "`confusion_matrix`, `precision_recall_fscore_support`, `cohen_kappa_score`, `matthews_corrcoef`, `log_loss`, "
    "`brier_score_loss` and `roc_auc_score` of each class against the rest."
)
MANY = "The same of more classes. Nothing is wanted but to be ahead."
PAIRED = (
    "The difference of two AUCs on the same rows, with interval and test (DeLong). scikit-learn computes both AUCs, "
    "from which no test follows."
)


def measure_auc(plan: Plan, say: Callable[[str], None]) -> Section:
    """AUC of one score, without and with ties."""
    section = Section("AUC", AUC, ["scores", "rows", OURS, WANTED, SKLEARN, INTERVALS])
    everybody: dict[str, Contestant] = {OURS: assess_auc, SKLEARN: sklearn_auc, INTERVALS: delong_interval}
    for scores, targets, decimals in (("distinct", plan.auc_rows, None), ("tied", plan.tied_rows, DECIMALS)):
        growth = Growth(plan.pace.budget)
        for rows, wanted in targets.items():
            where = f"{power(rows)} rows, {scores} scores"
            say(f"{section.title}: {where}")
            contest = hold(Sample(rows, 2, decimals=decimals), everybody, plan.pace, growth)
            ahead = contest.against(SKLEARN, section, where, wanted=wanted)
            other = contest.against(INTERVALS, section, where)
            section.add(scores, power(rows), contest.own(), _target(wanted), ahead, other)
    return section


def measure_one_against_rest(plan: Plan, say: Callable[[str], None]) -> Section:
    """AUC of many classes."""
    section = Section("AUC of many classes", ONE_AGAINST_REST, ["rows", OURS, WANTED, SKLEARN])
    everybody: dict[str, Contestant] = {OURS: assess_one_against_rest, SKLEARN: sklearn_one_against_rest}
    return measure_all(section, everybody, MANY_CLASSES, plan.one_against_rest_rows, plan.pace, say)


def measure_thresholds(plan: Plan, say: Callable[[str], None]) -> Section:
    """A measure at every threshold."""
    text, levels = THRESHOLDS.format(levels=plan.threshold_levels), plan.threshold_levels
    section = Section("All thresholds", text, ["rows", OURS, WANTED, f"{SKLEARN}, scaled"])
    everybody: dict[str, Contestant] = {
        OURS: assess_thresholds,
        SKLEARN: partial(sklearn_thresholds, levels=levels),
    }
    return measure_all(section, everybody, 2, plan.threshold_rows, plan.pace, say, lambda rows: rows / levels)


def measure_auc_bootstrap(plan: Plan, say: Callable[[str], None]) -> Section:
    """The bootstrap of AUC."""
    text = BOOTSTRAP.format(replicates=plan.replicates, few=plan.auc_replicates)
    section = Section("Bootstrap of AUC", text, ["rows", OURS, WANTED, f"{INTERVALS}, scaled"])
    everybody: dict[str, Contestant] = {
        OURS: partial(assess_auc_bootstrap, replicates=plan.replicates),
        INTERVALS: partial(auc_bootstrap_interval, replicates=plan.auc_replicates),
    }
    # The value itself costs the peer as much as one more replicate.
    factor = (plan.replicates + 1) / (plan.auc_replicates + 1)
    return measure_all(section, everybody, 2, plan.auc_bootstrap_rows, plan.pace, say, lambda _: factor)


def measure_everything(plan: Plan, say: Callable[[str], None]) -> Section:
    """All measures at once."""
    section = Section("All measures from memberships", EVERYTHING, ["rows", OURS, WANTED, SKLEARN])
    everybody: dict[str, Contestant] = {OURS: assess_memberships, SKLEARN: sklearn_memberships}
    return measure_all(section, everybody, FEW_CLASSES, plan.everything_rows, plan.pace, say)


def measure_many_classes(plan: Plan, say: Callable[[str], None]) -> Section:
    """All measures at once, of more classes."""
    section = Section("All measures of many classes", MANY, ["classes", "rows", OURS, SKLEARN])
    for classes, sizes in plan.many_classes.items():
        growth = Growth(plan.pace.budget)
        for rows in sizes:
            where = f"{classes} classes, {power(rows)} rows"
            say(f"{section.title}: {where}")
            everybody: dict[str, Contestant] = {OURS: assess_memberships, SKLEARN: sklearn_memberships}
            contest = hold(Sample(rows, classes), everybody, plan.pace, growth)
            section.add(str(classes), power(rows), contest.own(), contest.against(SKLEARN, section, where))
    return section


def measure_paired_auc(plan: Plan, say: Callable[[str], None]) -> Section:
    """The AUCs of two classifiers."""
    section = Section("Paired AUC", PAIRED, ["rows", OURS, WANTED, SKLEARN])
    everybody: dict[str, Contestant] = {OURS: compare_auc, SKLEARN: sklearn_auc_twice}
    return measure_all(section, everybody, 2, plan.paired_auc_rows, plan.pace, say)


def measure_all(
    section: Section,
    everybody: Mapping[str, Contestant],
    classes: int,
    targets: Targets,
    pace: Pace,
    say: Callable[[str], None],
    scale: Callable[[int], float] = lambda _: 1.0,
) -> Section:
    """Measure steelyard and its one peer at all sizes; the peer's times are scaled up where it does a part only."""
    (peer,) = [name for name in everybody if name != OURS]
    growth = Growth(pace.budget)
    for rows, wanted in targets.items():
        where = f"{power(rows)} rows"
        say(f"{section.title}: {where}")
        contest: Contest = hold(Sample(rows, classes), everybody, pace, growth).scaled(peer, scale(rows))
        section.add(power(rows), contest.own(), _target(wanted), contest.against(peer, section, where, wanted=wanted))
    return section


def _target(wanted: float) -> str:
    """What is wanted, where it is more than to be ahead."""
    return "" if wanted == 1 else ratio(wanted)
