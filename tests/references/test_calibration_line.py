"""The same lines as statsmodels finds, with its robust standard errors; the same net benefits as dcurves.

``data/calibration_line.json`` and ``data/net_benefit.json`` say which releases and which options.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy

IRIS = resources.files("steelyard") / "data" / "examples" / "iris.csv"
DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "calibration_line.json").read_text(encoding="utf-8"))["cases"]
BENEFITS = json.loads((DATA / "net_benefit.json").read_text(encoding="utf-8"))["net_benefit"]
FITTED = {"intercept": 1, "slope": 2}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["independent", "clustered"])
def test_lines_and_standard_errors(case: dict[str, Any], kind: str) -> None:
    rows, cluster = len(case["forecast"]), np.array(case["cluster"])
    group = cluster if kind == "clustered" else None
    table = sy.assess(case["happened"], case["forecast"], event=1, group=group).calibration_line()
    found = {row["part"]: row for row in table}
    for part, (value, error) in case[kind].items():
        clusters = len(set(case["cluster"]))
        taken = clusters / (clusters - 1) if group is not None else rows / (rows - FITTED[part])
        assert found[part]["value"] == pytest.approx(value, rel=1e-8)
        assert found[part]["se"] == pytest.approx(error * taken**0.5, rel=1e-7)


def test_net_benefits() -> None:
    measures = sorted({f"net_benefit(at={row['threshold']})" for row in BENEFITS})
    irises = {
        model: sy.assess(str(IRIS), truth="species", membership=f"{model}_*", measures=measures)
        for model in ("lda", "qda", "knn")
    }
    curves = {label: irises["lda"].decision_curve(label, band="none") for label in {row["class"] for row in BENEFITS}}
    for row in BENEFITS:
        if row["model"] == "all":
            curve = curves[row["class"]]
            found = curve["all"][curve["threshold"].index(row["threshold"])]
        else:
            found = irises[row["model"]][f"net_benefit(at={row['threshold']})", row["class"]].value
        assert found == pytest.approx(row["value"], rel=1e-12, abs=1e-12)
