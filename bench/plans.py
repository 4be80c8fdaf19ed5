"""How much is measured: everything, or what fits into a minute."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .timing import Pace

Targets = dict[int, float]  # rows, and how many times as long as steelyard a peer shall need there at least


@dataclass(frozen=True)
class Plan:
    """The sizes of a run.

    Attributes:
        rows: For the count measures.
        classes: For the count measures.
        pace: How long to measure each size.
        bootstrap_rows: Rows, and how many replicates the peer is given there before it is scaled up.
        replicates: How many replicates are wanted.
        replicates_of_percentiles: The same of whoever takes percentiles of them, which need fewer.
        paired_rows: For two classifiers on the same cases.
        paired_classes: For the same.
        auc_rows: For AUC.
        tied_rows: For AUC where scores are tied.
        one_against_rest_rows: For AUC of many classes.
        threshold_rows: For a measure at every threshold.
        threshold_levels: How many thresholds the peer is given there before it is scaled up.
        auc_bootstrap_rows: For the bootstrap of AUC.
        auc_replicates: How many replicates the peer is given there before it is scaled up.
        everything_rows: For all default measures.
        many_classes: For the same of more classes.
        forecast_rows: For scores of probability forecasts.
        paired_auc_rows: For the AUCs of two classifiers.
        study_repetitions: Data sets in every cell of a simulation, and how many times as long the peer shall need.
        partition_rows: For scaled memberships, and how many times as long the exact inverse shall need.
        closed_form_rows: For leave-one-out, and how many times as long the fits shall need.
        stream_rows: For files that are never held, and what share of the speed of reading alone is wanted.
        engine_rows: For a cluster of two workers against one.
        page_rows: For the page.
        fresh_starts: How often a fresh process is started for an import.
    """

    rows: tuple[int, ...]
    classes: tuple[int, ...]
    pace: Pace
    bootstrap_rows: dict[int, int]
    replicates: int
    replicates_of_percentiles: int
    paired_rows: int
    paired_classes: tuple[int, ...]
    auc_rows: Targets
    tied_rows: Targets
    one_against_rest_rows: Targets
    threshold_rows: Targets
    threshold_levels: int
    auc_bootstrap_rows: Targets
    auc_replicates: int
    everything_rows: Targets
    many_classes: dict[int, tuple[int, ...]]
    forecast_rows: Targets
    paired_auc_rows: Targets
    study_repetitions: Targets
    partition_rows: Targets
    closed_form_rows: Targets
    stream_rows: Targets
    engine_rows: tuple[int, ...]
    page_rows: tuple[int, ...]
    fresh_starts: int


# scikit-learn needs half a minute for 10^7 rows, and that is the comparison that most people look for.
FULL = Plan(
    rows=(10**2, 10**4, 10**6, 10**7),
    classes=(2, 3, 10, 100),
    pace=Pace(patience=2.0, budget=60.0),
    bootstrap_rows={10**3: 100, 10**5: 10, 10**7: 1},
    replicates=10_000,
    replicates_of_percentiles=1_000,
    paired_rows=10**6,
    paired_classes=(2, 3, 10, 100),
    auc_rows={10**4: 1, 10**6: 10, 10**7: 10},
    tied_rows={10**6: 10},
    one_against_rest_rows={10**5: 1, 10**6: 20, 10**7: 20},
    threshold_rows={20_000: 1_000},
    threshold_levels=200,
    auc_bootstrap_rows={2_000: 30},
    auc_replicates=200,
    everything_rows={10**2: 1, 10**4: 1, 10**5: 1, 10**6: 20, 10**7: 20},
    many_classes={10: (10**3, 10**5, 10**6), 50: (10**3, 10**5)},
    forecast_rows={10**2: 1, 10**4: 1, 10**6: 1, 10**7: 15},
    paired_auc_rows={10**6: 1},
    study_repetitions={100: 40},
    partition_rows={10**3: 1, 10**4: 1, 10**6: 10},
    closed_form_rows={200: 10, 5_000: 100},
    stream_rows={10**6: 0.0, 10**7: 0.5, 10**8: 0.5},
    engine_rows=(2 * 10**7, 10**8),
    page_rows=(10**3, 10**6),
    fresh_starts=7,
)
QUICK = replace(
    FULL,
    rows=(10**2, 10**4, 10**5),
    classes=(2, 10, 100),
    pace=Pace(patience=0.15, budget=1.0, most=20),
    bootstrap_rows={10**3: 20, 10**5: 2},
    paired_rows=10**4,
    paired_classes=(2, 10),
    auc_rows={10**4: 1, 10**5: 1},
    tied_rows={10**5: 1},
    one_against_rest_rows={10**4: 1},
    threshold_rows={5_000: 1},
    threshold_levels=20,
    auc_bootstrap_rows={2_000: 1},
    auc_replicates=20,
    everything_rows={10**5: 1},
    many_classes={10: (10**4,)},
    forecast_rows={10**5: 1},
    paired_auc_rows={10**5: 1},
    study_repetitions={10: 10},
    partition_rows={10**5: 5},
    closed_form_rows={1_000: 20},
    stream_rows={10**5: 0.0},
    engine_rows=(2 * 10**7,),
    page_rows=(10**3,),
    fresh_starts=1,
)
