"""The package as a whole: what it loads, what it offers, and that nothing is out of date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import steelyard

HEAVY = (
    "matplotlib",
    "sklearn",
    "pyarrow.dataset",
    "dask",
    "distributed",
    "pyspark",
    "py4j",
    "pandas",
    "polars",
    "scipy.stats",
)


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    return set(done.stdout.split())


def test_importing_loads_nothing_heavy() -> None:
    assert not loaded_after("import steelyard") & {*HEAVY, "pyarrow", "numpy"}


def test_assessing_arrays_loads_nothing_heavy() -> None:
    assert not loaded_after("import steelyard; steelyard.assess([0, 1, 1], [0, 1, 0])['kappa']") & {*HEAVY}


def test_assessing_many_scores_does_not_wait_for_scipy() -> None:
    code = "import numpy, steelyard; r = numpy.random.default_rng(1); y = r.random(9000) < 0.4; "
    assert "scipy" not in loaded_after(f"{code} print(steelyard.assess(y, 0.6 * r.random(9000) + 0.3 * y, event=True))")


def test_comparing_loads_nothing_heavy() -> None:
    """Every p-value is of functions that are there already: all of SciPy's statistics take a second and more."""
    code = """
from steelyard import compare
found = compare([0, 1, 1, 0, 1, 0], {"a": [0.1, 0.7, 0.8, 0.6, 0.9, 0.2], "b": [0.3, 0.4, 0.9, 0.1, 0.6, 0.7]}, event=1)
print(found, found.differences(), found.verdict())
found.mcnemar("a", "b", "mid-p")
""".strip()
    assert not loaded_after(code.replace(chr(10), "; ")) & {*HEAVY}


def test_assessing_files_loads_no_engine_but_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,m\n0,0\n1,1\n")
    loaded = loaded_after(f"import steelyard; steelyard.assess({str(tmp_path)!r}, truth='y', assigned='m')['kappa']")
    assert "steelyard.data.engines.engine" in loaded
    assert (
        not {"dask", "distributed", "pyspark", "py4j", "steelyard.data.engines.dask", "steelyard.data.engines.spark"}
        & loaded
    )


@pytest.mark.parametrize("said", ["assigned='m'", "membership='p_*'", "membership='p_a', event='a'"])
def test_files_are_assessed_without_pandas(tmp_path: Path, said: str) -> None:
    """Arrow loads it, wherever it is installed, for some of what it does: that takes as long as all the rest."""
    (tmp_path / "a.csv").write_text("y,m,p_a,p_b\na,a,0.7,0.3\nb,a,0.6,0.4\na,b,0.1,0.9\nb,b,0.2,0.8\n")
    loaded = loaded_after(f"import steelyard; steelyard.assess({str(tmp_path)!r}, truth='y', {said}).table()")
    assert "pyarrow" in loaded
    assert "pandas" not in loaded


def test_tallies_are_written_and_merged_without_pandas(tmp_path: Path) -> None:
    code = f"""
import steelyard
for place, name in enumerate("ab"):
    with open(f"{tmp_path}/{{name}}.csv", "w") as file:
        file.write(f"y,p\\n0,0.25\\n1,0.5\\n1,0.75{{place}}\\n")
    found = steelyard.assess(f"{tmp_path}/{{name}}.csv", truth="y", membership="p", event=1)
    found.tally.save(f"{tmp_path}/{{name}}.tally", rows=True)
print(steelyard.merge([steelyard.Tally.load(f"{tmp_path}/{{name}}.tally") for name in "ab"]))
""".strip()
    assert "pandas" not in loaded_after(f"exec({code!r})")


def test_every_public_name_can_be_had() -> None:
    for name in dir(steelyard):
        assert getattr(steelyard, name) is not None
    assert {"assess", "compare", "assess_table", "Scale", "Tally", "Estimate", "Assessment", "Comparison"} <= set(
        dir(steelyard)
    )


def test_errors_are_there_before_anything_went_wrong() -> None:
    loaded = loaded_after("import steelyard; steelyard.errors.BadOption")
    assert "steelyard.core.errors" in loaded
    assert "steelyard.results.api" not in loaded
    assert not {"api", "columns", "import_module", "Any"} & set(dir(steelyard))


def test_all_names_can_be_had_at_once() -> None:
    code = "from steelyard import *; print(assess([0, 1, 1], [0, 1, 0])['error'].value, 'Any' in globals())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    value, foreign = done.stdout.split()
    assert float(value) == pytest.approx(1 / 3)
    assert foreign == "False"


def test_a_name_that_is_not_there_is_refused_in_the_usual_way() -> None:
    assert not hasattr(steelyard, "nonsense")


def test_no_public_name_is_that_of_a_module() -> None:
    """Importing the module would put it in the place of what bears its name."""
    modules = {path.stem for path in Path(str(steelyard.__file__)).parent.iterdir()}
    assert not modules & set(steelyard._HOME_OF)
