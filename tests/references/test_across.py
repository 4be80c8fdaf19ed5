"""Nemenyi's p-values by scikit-posthocs, and the Bayesian signed-rank test by baycomp. The file has the calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_allclose

from steelyard import AcrossDatasets, across_datasets

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "across.json").read_text())["cases"]
IDS = [case["name"] for case in CASES]


def of(case: dict[str, Any]) -> AcrossDatasets:
    return across_datasets(case["values"], names=[f"m{k}" for k in range(len(case["values"][0]))], better="higher")


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_nemenyis_p_values(case: dict[str, Any]) -> None:
    expected = [case["nemenyi_p"][a][b] for a, b, *_ in case["signed_rank"]]
    assert_allclose(of(case).nemenyi().pairs["p"], expected, atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_bayesian_signed_rank_test(case: dict[str, Any]) -> None:
    """Both are drawn: four standard errors of the difference of two shares, of 200,000 and of 50,000 draws."""
    found = of(case).bayesian(case["rope"])
    for row, (_, _, first, *within, last) in zip(found, case["signed_rank"], strict=True):
        expected = [first, *(within or [0.0]), last]
        assert_allclose([row["a_better"], row["equivalent"], row["b_better"]], expected, atol=0.01)
