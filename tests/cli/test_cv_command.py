"""``steelyard cv``: classifiers by name on the columns of a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_predict

from steelyard.cli import main
from steelyard.cli.cv import read_folds
from steelyard.modelling.splits import Bootstrap

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


@pytest.fixture
def flowers(tmp_path: Path) -> str:
    lines = ["sepal_length,sepal_width,petal_length,petal_width,species,plot,note"]
    lines += [",".join([*map(str, row), NAMES[place], f"plot {place // 5}", "x"]) for place, row in enumerate(X)]
    path = tmp_path / "flowers.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, str, str]:
    status = main(list(tokens))
    caught = capsys.readouterr()
    return status, caught.out, caught.err


def test_tables_for_people(capsys: pytest.CaptureFixture[str], flowers: str) -> None:
    models = "lda,knn:5"
    status, out, _ = run(capsys, "cv", flowers, "--target", "species", "--models", models, "--measures", "error,kappa")
    assert status == 0
    assert "cross-validated: 10 folds, stratified by class" in out
    assert "in training" in out
    assert "note: neither numbers nor 2 to 20 words, and not learned from: 'plot', 'note'" in out


@pytest.fixture
def clinic(tmp_path: Path) -> str:
    """Numbers, words, and a column that numbers the rows; one number is missing."""
    random, rows = np.random.default_rng(3), 120
    sex, age = random.choice(["f", "m"], rows), random.integers(18, 90, rows)
    ill = np.where(random.random(rows) < 1 / (1 + np.exp(3 - 0.05 * age - 2 * (sex == "m"))), "ill", "well")
    table = pa.table({"id": np.arange(1000, 1000 + rows), "sex": sex, "age": age, "town": [""] * rows, "outcome": ill})
    path = str(tmp_path / "clinic.parquet")
    pq.write_table(table, path)
    return path


def test_words_are_learned_from_and_names_of_rows_are_not(capsys: pytest.CaptureFixture[str], clinic: str) -> None:
    status, out, _ = run(capsys, "cv", clinic, "--truth", "outcome", "--models", "lda", "--json")
    assert status == 0
    found = next(row["value"] for row in json.loads(out)["estimates"] if row["measure"] == "error")
    table = pq.read_table(clinic)
    variables = np.stack([np.asarray(table["sex"]) == "m", np.asarray(table["age"])], axis=1).astype(float)
    truth = np.asarray(table["outcome"]).astype(str)
    assert found == pytest.approx(
        np.mean(cross_val_predict(LinearDiscriminantAnalysis(), variables, truth, cv=10) != truth)
    )
    notes = run(capsys, "cv", clinic, "--target", "outcome", "--models", "lda", "--measures", "error")[1]
    assert "not learned from unless --features says so: 'id'" in notes
    assert "learned from as 0 and 1, one column for each word but the first: 'sex'" in notes
    assert "2 to 20 words, and not learned from: 'town'" in notes
    chosen = ("--features", "id,age", "--models", "lda", "--measures", "error")
    status, out, _ = run(capsys, "cv", clinic, "--target", "outcome", *chosen)
    assert status == 0
    assert "learned from" not in out
    status, _, err = run(capsys, "cv", clinic, "--target", "outcome", "--features", "town")
    assert status == 2
    assert "column 'town': neither numbers nor 2 to 20 words" in err


def test_what_is_missing_is_named_with_what_to_say(capsys: pytest.CaptureFixture[str], clinic: str) -> None:
    table = pq.read_table(clinic)
    for name in ("age", "sex"):
        gap = pa.array([None if row == 7 else value for row, value in enumerate(table[name].to_pylist())])
        pq.write_table(table.set_column(table.column_names.index(name), name, gap), clinic)
        status, _, err = run(capsys, "cv", clinic, "--target", "outcome", "--models", "lda")
        assert status == 2
        assert f"column '{name}" in err
        assert "row 7" in err
        assert "--missing drop" in err
        status, out, _ = run(capsys, "cv", clinic, "--target", "outcome", "--models", "lda", "--missing", "drop")
        assert status == 0
        assert "1 row that misses a value was dropped" in out


def test_json_holds_all_that_was_found(capsys: pytest.CaptureFixture[str], flowers: str) -> None:
    tokens = ["cv", flowers, "--target", "species", "--models", "lda,tree", "--folds", "5", "--intervals", "corrected"]
    status, out, _ = run(capsys, *tokens, "--json")
    found = json.loads(out)
    assert status == 0
    wrong = np.mean(cross_val_predict(LinearDiscriminantAnalysis(), X, NAMES, cv=5) != NAMES)
    error = next(row for row in found["estimates"] if row["model"] == "lda" and row["measure"] == "error")
    assert error["value"] == pytest.approx(wrong)
    assert found["held_out"] == "5 folds, stratified by class"
    assert {row["method"] for row in found["intervals"]} == {"corrected"}
    assert [row["how"] for row in found["times"]] == ["5 fits", "5 fits"]
    assert found["differences"]
    assert found["training"]
    assert found["failures"] == []


def test_units_in_brackets_are_part_of_a_name(capsys: pytest.CaptureFixture[str], flowers: str) -> None:
    renamed = Path(flowers).read_text().replace("petal_length", "petal length [cm]").replace("petal_width", "wide?")
    Path(flowers).write_text(renamed)
    for chosen in ("petal length [cm]", "petal*[cm]", "wide?"):
        tokens = ["cv", flowers, "--target", "species", "--models", "lda", "--features", chosen, "--measures", "error"]
        status, out, err = run(capsys, *tokens)
        assert (status, err) == (0, "")
        assert "150 rows" in out
    status, _, err = run(capsys, "cv", flowers, "--target", "species", "--models", "lda", "--features", "wid??")
    assert status == 2
    assert "no column is called 'wid??'" in err


def test_features_groups_and_gaps(capsys: pytest.CaptureFixture[str], flowers: str, tmp_path: Path) -> None:
    text = Path(flowers).read_text().splitlines()
    text[3] = text[3].replace(text[3].split(",")[2], "", 1)
    gappy = tmp_path / "gappy.csv"
    gappy.write_text("\n".join(text) + "\n")
    tokens = ["cv", str(gappy), "--target", "species", "--models", "lda", "--features", "petal_*", "--group", "plot"]
    status, _, err = run(capsys, *tokens, "--measures", "error")
    assert status == 2
    assert "column 'petal_length', row 2: a number is missing" in err
    status, out, _ = run(capsys, *tokens, "--measures", "error", "--missing", "drop")
    assert status == 0
    assert "149 rows" in out
    assert "note: 1 row that misses a value was dropped" in out
    assert "30 clusters" in out


def test_columns_without_a_name_are_left_alone(capsys: pytest.CaptureFixture[str], flowers: str) -> None:
    lines = Path(flowers).read_text().splitlines()
    Path(flowers).write_text("\n".join(f"{line},," for line in lines))
    tokens = ["cv", flowers, "--target", "species", "--models", "lda", "--measures", "error"]
    for more in ([], ["--where", "sepal_length > 5"]):
        status, out, err = run(capsys, *tokens, *more)
        assert (status, err) == (0, "")
        assert "not learned from: 'plot', 'note'" in out
    Path(flowers).write_text("\n".join(f"{line},{'n' if line == lines[0] else 1}" * 2 for line in lines))
    status, _, err = run(capsys, *tokens)
    assert status == 2
    assert "columns are called" in err


def test_what_is_not_a_number_is_missing_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    # As polars writes it; of text files, nothing but gaps is left.
    path, rows = tmp_path / "gappy.parquet", np.arange(40.0)
    table = pa.table({"kind": ["a", "b"] * 20, "x": np.where(rows % 8 == 3, np.nan, rows % 7), "y": rows % 3})
    pq.write_table(table, path)
    tokens = ["cv", str(path), "--target", "kind", "--models", "lda", "--folds", "3", "--measures", "error"]
    status, _, err = run(capsys, *tokens)
    assert (status, "column 'x', row 3: a number is missing" in err) == (2, True)
    status, out, _ = run(capsys, *tokens, "--missing", "drop")
    assert status == 0
    assert "note: 5 rows that miss a value were dropped" in out


def test_a_measured_target_is_cut(capsys: pytest.CaptureFixture[str], flowers: str) -> None:
    cut = ["--cut", "0.8,1.7", "--sd", "0.1", "--scale", "short,middle,long"]
    tokens = ["cv", flowers, "--target", "petal_width", "--models", "lda,regression", "--folds", "loo", *cut]
    status, out, _ = run(capsys, *tokens, "--measures", "error,adjusted_sqerr", "--measure", "adjusted_sqerr")
    assert status == 0
    assert "one row left out at a time" in out
    assert "closed form" in out
    assert "differences in adjusted_sqerr" in out


def test_requirements_set_the_exit_status(capsys: pytest.CaptureFixture[str], flowers: str) -> None:
    tokens = ["cv", flowers, "--target", "species", "--models", "lda,knn:5", "--folds", "5", "--measures", "error"]
    assert run(capsys, *tokens, "--require", "lda.error < 0.1")[0] == 0
    assert run(capsys, *tokens, "--require", "knn:5.error < 0.001")[0] == 1


def test_a_classifier_that_could_not_be_fitted_meets_no_requirement(
    capsys: pytest.CaptureFixture[str], flowers: str
) -> None:
    tokens = ["cv", flowers, "--target", "species", "--models", "lda,knn:500", "--folds", "3", "--measures", "error"]
    status, out, _ = run(capsys, *tokens, "--require", "lda.error < 0.9", "--require", "knn:500.error < 0.9")
    assert status == 1
    assert "\nheld: lda.error < 0.9" in out
    assert "NOT HELD: knn:500.error < 0.9  (it is undefined: 'knn:500' could not be fitted)" in out


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["--target", "specie"], "there is no column 'specie'. Did you mean 'species'?"),
        (["--target", "species", "--models", "lda,ldaa"], "there is no classifier 'ldaa'"),
        (["--target", "species", "--features", "stem*"], "no column is called 'stem*'"),
        (["--target", "species", "--features", "species"], "no column is called 'species'"),
        (["--target", "species", "--features", "note"], "note"),
        (["--target", "species", "--folds", "1"], "1 folds of 150 rows"),
        (["--target", "species", "--folds", "few"], "--folds is 'few'"),
        (["--target", "species", "--weight", "petal_width"], "--weight is not for cross-validation"),
        (["--target", "species", "--bad-files", "skip"], "--bad-files skip is not for cross-validation"),
        (["--target", "species", "--threshold", "0.5"], "--threshold is not for cross-validation"),
        (["--target", "species", "--intervals", "wide"], "there is no interval 'wide'"),
        (["--target", "species", "--cut", "3"], "'setosa' is no number. Give numbers\n"),
    ],
)
def test_bad_input_has_status_2(
    capsys: pytest.CaptureFixture[str], flowers: str, tokens: list[str], message: str
) -> None:
    status, _, err = run(capsys, "cv", flowers, "--measures", "error", *tokens)
    assert status == 2
    assert message in err


@pytest.mark.parametrize("once", ["loo", "bootstrap"])
def test_what_can_be_repeated_is_told_as_one_types_it(
    capsys: pytest.CaptureFixture[str], flowers: str, once: str
) -> None:
    words = ["cv", flowers, "--target", "species", "--models", "lda", "--measures", "error", "--repeats", "2"]
    status, _, err = run(capsys, *words, "--folds", once)
    assert status == 2
    assert err.endswith("--repeats needs a number of folds. Say --folds 10, or a share to hold out as 0.25\n")
    for folds in ("10", "0.25"):
        assert run(capsys, *words, "--folds", folds)[0] == 0


def test_folds_are_read() -> None:
    assert read_folds("10") == 10
    assert read_folds("0.25") == 0.25
    assert read_folds("loo") == "loo"
    assert read_folds("bootstrap:50") == Bootstrap(50)


def test_a_word_that_is_left_alone_when_rows_are_dropped_tells_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [
        f"{place % 2},{'' if place == 3 else place * 0.37 % 1:},{'b' if place == 3 else 'a'}" for place in range(30)
    ]
    path = tmp_path / "said.csv"
    path.write_text("\n".join(["y,x,kind", *rows]) + "\n")
    tokens = ["cv", str(path), "--target", "y", "--models", "lda", "--measures", "error", "--missing", "drop"]
    status, out, _ = run(capsys, *tokens)
    assert status == 0
    assert "29 rows" in out


@pytest.mark.parametrize(("gaps", "row"), [("error", 1), ("drop", 2)])
def test_a_fault_in_one_file_of_a_folder_is_told_of_that_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, gaps: str, row: int
) -> None:
    (tmp_path / "a.csv").write_text("kind,x\n1,0.5\n2,0.7\n1,0.2\n2,0.9\n")
    missing = "1,\n" if gaps == "drop" else ""
    (tmp_path / "b.csv").write_text(f"kind,x\n2,0.5\n{missing}1.5,0.7\n")
    words = ["cv", str(tmp_path), "--target", "kind", "--models", "lda", "--folds", "2", "--missing", gaps]
    status, _, err = run(capsys, *words)
    assert status == 2
    assert f"file '{tmp_path / 'b.csv'}', column 'kind', row {row}: 1.5 cannot be a class label" in err
    assert "file" not in run(capsys, *words, "--folds", "many")[2]


def test_options_that_say_nothing_here_are_refused(capsys: pytest.CaptureFixture[str], flowers: str) -> None:
    status, _, err = run(capsys, "cv", flowers, "--target", "species", "--models", "lda", "--folds", "inf")
    assert status == 2
    assert "--folds is 'inf'" in err
    status, _, err = run(capsys, "cv", flowers, "--target", "species", "--models", "lda", "--closed", "right")
    assert status == 2
    assert "--closed is of cuts, and none is given" in err


@pytest.mark.parametrize(
    ("rows", "words", "told"),
    [
        (["1,0.5,0.1", "x,0.7,0.1"], ["--cut", "1"], "column 'Härte [HV]', row 1: 'x' is no number"),
        (["1,0.5,0.1", "2,0.7,-1"], ["--cut", "1", "--sd", "y"], "column 'y', row 1: "),
        (["1,0.5,0.1", ",0.7,0.1"], [], "column 'Härte [HV]', row 1: the value is missing"),
    ],
)
def test_columns_are_called_as_in_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rows: list[str], words: list[str], told: str
) -> None:
    path = tmp_path / "steel.csv"
    path.write_text("\n".join(["Härte [HV],x,y", *rows, "2,0.1,0.1", "1,0.3,0.1", ""]), encoding="utf-8")
    status, _, err = run(capsys, "cv", str(path), "--target", "Härte [HV]", "--models", "lda", "--folds", "2", *words)
    assert status == 2
    assert told in err


def test_help_lists_no_option_that_is_refused(capsys: pytest.CaptureFixture[str], flowers: str) -> None:
    shown = run(capsys, "cv", "--help")[1]
    assert "--group" in shown
    for option in ("--weight", "--threshold", "--by", "--bad-files"):
        assert f"{option} " not in shown
        value = "skip" if option == "--bad-files" else "plot"
        status, _, err = run(capsys, "cv", flowers, "--target", "species", "--models", "lda", option, value)
        assert status == 2
        assert "is not for cross-validation" in err
