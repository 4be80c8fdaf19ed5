"""Whoever misspells a name is asked whether the nearest one was meant, wherever names are given."""

from __future__ import annotations

import datetime
import inspect
import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.cli.messages import as_typed
from steelyard.core.errors import SteelyardError, UnknownOption, UnreadableFile
from steelyard.core.suggestions import ELSEWHERE, did_you_mean, nearest

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
LDA = ["assess", IRIS, "--truth", "species", "--membership", "lda_*", "--measures", "error"]
BOTH = ["compare", IRIS, "--truth", "species", "--model", "lda=lda_*", "--model", "qda=qda_*"]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["assess", IRIS, "--truth", "specis", "--membership", "lda_*"], "'species'"),
        (["assess", IRIS, "--truth", "species", "--assigned", "Speceis"], "'species'"),
        (["assess", IRIS, "--truth", "species", "--membership", "lad_*"], "'lda_*'"),
        (["assess", IRIS, "--truth", "species", "--membership", "lda_setos,qda_setosa"], "'lda_setosa'"),
        ([*LDA, "--by", "specie"], "'species'"),
        ([*LDA, "--weight", "sepal_widht"], "'sepal_width'"),
        ([*LDA, "--where", "sepal_lenght > 5"], "'sepal_length'"),
        ([*LDA[:-1], "acuracy"], "'accuracy'"),
        ([*LDA, "--require", "eror < 1"], "'error'"),
        ([*LDA, "--require", "error[setossa] < 1"], "'setosa'"),
        ([*LDA, "--require", "error[macr] < 1"], "'macro'"),
        ([*LDA, "--event", "Setosa"], "'setosa'"),
        ([*LDA, "--scale", "setosa,versicolour,virginica"], "'versicolour'"),
        ([*LDA, "--engine", "dsk"], "'dask'"),
        ([*LDA, "--method", "bootstrp"], '"bootstrap"'),
        ([*LDA, "--levle", "0.9"], "--level"),
        ([*BOTH, "--require", "lad.error < 1"], "'lda'"),
        (["asess", IRIS], '"assess"'),
        (["cv", IRIS, "--target", "species", "--models", "tee"], "'tree'"),
        (["cv", IRIS, "--target", "species", "--models", "lda", "--features", "sepal_widht"], "'sepal_width'"),
        (
            [
                "thresholds",
                IRIS,
                "--truth",
                "species",
                "--membership",
                "lda_*",
                "--event",
                "setosa",
                "--choose",
                "best:f11",
            ],
            "'f1'",
        ),
        (["measures", "kapa"], "'kappa'"),
        (["study", "meet"], '"meat"'),
    ],
)
def test_the_nearest_name_is_asked_for(capsys: pytest.CaptureFixture[str], words: list[str], meant: str) -> None:
    assert main(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"Did you mean {meant}" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["assess"], "assess needs FILE: CSV, Parquet or Arrow file"),
        (["assess", IRIS], "assess needs --truth: Column of the true class. 'iris.csv' has the columns 'species', "),
        (["assess", IRIS, "--truth"], "needs --truth"),
        (["compare", IRIS, "--truth", "species"], "compare needs --model: NAME=COLUMNS"),
        (["assess", "nowhere.csv"], "assess needs --truth: Column of the true class."),
        (["assess", __file__], "assess needs --truth: Column of the true class."),
    ],
)
def test_what_is_needed_is_told_with_what_there_is(
    capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert told in said
    assert ("has the columns" in said) == (IRIS in words)


def test_the_nearest_file_of_the_folder_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("monday.csv", "monday.tally", ".mondey.csv"):
        (tmp_path / name).write_text("")
    assert main(["assess", str(tmp_path / "mondy.csv"), "--truth", "a", "--assigned", "b"]) == 2
    assert f"Did you mean {str(tmp_path / 'monday.csv')!r}?" in capsys.readouterr().err
    assert main(["merge", str(tmp_path / "mondy.tally")]) == 2
    assert f"Did you mean {str(tmp_path / 'monday.tally')!r}?" in capsys.readouterr().err
    assert main(["assess", str(tmp_path / "no" / "monday.csv"), "--truth", "a", "--assigned", "b"]) == 2
    assert "Check name and folder" in capsys.readouterr().err


def test_the_library_asks_too() -> None:
    result = sy.assess(["a", "b", "a"], ["a", "b", "b"])
    both = sy.compare(["a", "b", "a"], {"first": ["a", "b", "b"], "second": ["a", "b", "a"]})
    asked: list[tuple[Any, str]] = [
        (lambda: result["kapa"], "'kappa'"),
        (lambda: both["frist"], "'first'"),
        (lambda: result.table()["valeu"], "'value'"),
        (lambda: sy.assess(["a", "b"], ["a", "b"], method="delt"), "'delta'"),  # type: ignore[arg-type]
        (lambda: sy.assess([0, 1], [0.2, 0.7], event=1).curve("rock"), "'roc'"),
    ]
    for ask, meant in asked:
        with pytest.raises(sy.SteelyardError, match=f"Did you mean {meant}\\?"):
            ask()


def test_what_is_far_off_is_not_guessed() -> None:
    assert did_you_mean("xyz", ["lda", "qda"], "There are two") == "There are two"
    assert nearest("a", []) is None
    assert nearest(12, [13, 14]) is None
    assert nearest(np.float64(1.0), [1]) is None


def test_a_suggestion_cannot_act_on_a_terminal() -> None:
    assert "\x1b" not in did_you_mean("red", ["\x1bred"], "")


@pytest.mark.parametrize(
    ("mend", "typed"),
    [
        ("Name assigned='column' or membership='p_*'", "Name --assigned 'column' or --membership 'p_*'"),
        ("name all classes: scale=Scale([...])", "name all classes: --scale low,mid,high"),
        ("scale=Scale(['no', 'yes'])", "--scale no,yes"),
        ("scale=Continuum([65], ['dry', 'wet']) it is", "--cut 65 it is"),
        ("Say extend=True to let outer classes reach far, or leave the outer ones out", "Leave the outer ones out"),
        ("Name it in measures=[...]", "Name it in --measures, with commas"),
        ("a truth, measures=[...]", "a truth, --measures error,kappa"),
        (
            "Give response=fit_response(covariates, measured, sd), or (mean, sd) out of fold",
            "Give --response expected,expected_sd: columns of the mean and sd out of fold",
        ),
        ("as in measures=['error', 'f1']", "as in --measures error,f1"),
        ("Give cost={true: {assigned: cost}}", "Give --cost costs.csv"),
        ("as standardise(scores, 'rank') does", "as Python's steelyard.standardise(scores, 'rank') does"),
        ("or leave engine= out", "or leave --engine out"),
        ("sd=0.22, or sd_response=0.3; see", "--sd 0.22, or --sd-response 0.3; see"),
        ("Did you mean event=yes?", "Did you mean event=yes?"),
        ("'event=yes' is one", "'event=yes' is one"),
        ("Check the spelling", "Check the spelling"),
    ],
)
def test_a_mend_is_told_as_it_is_typed(mend: str, typed: str) -> None:
    assert as_typed(mend) == typed


def test_the_command_line_speaks_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assess", IRIS, "--truth", "species"]) == 2
    assert "Name --assigned 'column' or --membership 'p_*'" in capsys.readouterr().err
    two = ["--where", "species != 'virginica'"]
    assert main(["assess", IRIS, "--truth", "species", "--membership", "lda_setosa", *two]) == 2
    assert "--event 'setosa'" in capsys.readouterr().err


DRY = ["assess", str(resources.files("steelyard") / "data" / "examples" / "meat.csv"), "--truth"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([*LDA, "--assigned", "species"], "both --membership and --assigned are given"),
        (["assess", IRIS, "--truth", "species", "--assigned", "species", "--threshold", "0.5"], "--threshold is given"),
        (["cv", IRIS, "--target", "species", "--models", "lda", "--jobs", "0"], "error: --jobs is 0"),
        (["cv", IRIS, "--target", "species", "--folds", "many"], "--folds is 'many'. Say how many, --folds 10; or loo"),
        ([*LDA[:-1], "auc", "--bad-files", "skip", "--method", "bootstrap"], "error: --bad-files skip is for files"),
        ([*LDA, "--replicates", "500"], "--method delta draws no samples. Say --method bootstrap, or"),
        ([*LDA[:-1], "error,kappa", "--require", "auc > .5"], "Name it too: --measures 'error,kappa,auc'"),
        ([*LDA, "--require", "lda.error < 0.3"], "'kappa.low > 0.6'; one classifier goes without its name"),
        ([*BOTH, "--require", "lda.error is low"], "'kappa.low > 0.6' or 'lda.error < 0.1'"),
        ([*LDA, "--where", "species == setosa"], "Text stands in quotes: 'setosa'"),
        ([*LDA, "--where", "species in (setosa, virginica)"], "Text stands in quotes: 'setosa'"),
        ([*DRY, "lda", "--cut", "65", "--assigned", "water"], "with --cut, what was measured"),
        ([*DRY, "water", "--cut", "65", "--sd", "0,22", "--assigned", "lda"], "Decimals stand behind a point: 0.22"),
        (
            [*DRY, "water", "--cut", "65", "--sd", "1", "--assigned", "lda", "--measures", "posterior_error"],
            "--response expected,expected_sd",
        ),
        (["assess", "-", "--truth", "species"], "standard input is not read. Rows are read more than once: write"),
        ([*LDA, "--json", "out.txt"], "'out.txt' does not end in .json. Join it by a sign: --json=out.txt"),
        ([*LDA, IRIS], "is one file too many. Name several by a pattern in quotes"),
        (
            [*LDA, "--membership", "b"],
            "--membership is said twice. assess takes one classifier; compare takes several by",
        ),
        ([*LDA, "--truth", "b"], "--truth is said twice. Say it once"),
        ([*LDA, "--event", "a", "b"], "'b' belongs to no option"),
    ],
)
def test_what_is_wrong_is_told_as_it_is_typed(capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err


def test_calibration_offers_only_what_it_has(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "high.csv").write_text("ill,p\nyes,1.3\nno,0.2\n")
    words = [str(tmp_path / "high.csv"), "--truth", "ill", "--membership", "p", "--event", "yes"]
    assert main(["calibration", *words]) == 2
    told = capsys.readouterr().err
    assert "Probabilities lie between 0 and 1" in told
    assert "--threshold" not in told
    assert "--measures" not in told
    assert main(["assess", *words]) == 2
    assert "as --score, with --threshold" in capsys.readouterr().err


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableFile, match="is no file: pipes and devices are not read"):
        sy.assess(pipe, truth="ill", assigned="model")


@pytest.mark.parametrize(
    ("call", "mend"),
    [
        (lambda: sy.assess([0, 1, 1], [0.1, 0.8, 0.6], event="1"), r"classes seen, 0, 1\. Did you mean 1\?$"),
        (lambda: sy.assess(np.eye(3), np.eye(3)), r"shape \(3, 3\)\. .*values\.argmax\(axis=1\)"),
        (lambda: sy.assess(2 * np.eye(3), np.eye(3)), r"shape \(3, 3\)\. Give one value a row"),
        (lambda: sy.assess(pd.cut([1, 2, 3], 2), [0, 1, 2]), r"values\.astype\(str\)"),
        (lambda: sy.assess([datetime.date(2020, 1, 1)], ["a"]), r"is a date\..*values\.astype\(str\)"),
        (lambda: sy.assess({"truth": [0, 1]}, truth="truth", assigned="said"), r"a dict is .*pandas\.DataFrame"),
        (lambda: sy.assess(np.eye(2), truth="truth", assigned="said"), r"a ndarray is .*pandas\.DataFrame"),
    ],
)
def test_what_cannot_be_taken_says_what_would_be(call: Callable[[], Any], mend: str) -> None:
    with pytest.raises(SteelyardError, match=mend):
        call()


@pytest.mark.parametrize(
    ("function", "option", "mend"),
    [
        (sy.assess, "sample_weight", "Say weight="),
        (sy.assess, "labels", "Say scale=Scale(['low', 'high'])"),
        (sy.assess, "alpha", "Say level=, which is 1 - alpha"),
        (sy.assess, "meausres", "Did you mean 'measures'?"),
        (sy.assess, "average", "help(steelyard.assess) tells which there are"),
        (sy.compare, "membership", "Say predictions={'lda': 'lda_*', 'qda': 'qda_*'}"),
        (sy.compare, "wheight", "Did you mean 'weight'?"),
        (sy.assess_table, "labels", "Say scale=Scale(['low', 'high'])"),
        (sy.assess_tally, "random_state", "Say seed="),
        (sy.cross_assess, "random_state", "Say seed="),
        (sy.cross_assess, "group", "Did you mean 'groups'?"),
    ],
)
def test_options_of_other_libraries_are_told_what_they_are_called_here(
    function: Callable[..., Any], option: str, mend: str
) -> None:
    """An unknown option is an error of both kinds: of steelyard, and of a call that does not fit."""
    with pytest.raises(UnknownOption) as told:
        function(["a", "b"], ["a", "b"], **{option: None})
    assert told.value.mend == mend
    assert isinstance(told.value, TypeError)
    assert repr(option) in str(told.value)


def test_every_option_that_is_suggested_is_one() -> None:
    """What stands before the sign of equality is an option of a function that users call."""
    functions = (sy.assess, sy.compare)
    known = {name for function in functions for name in inspect.signature(function).parameters}
    assert {here.partition("=")[0] for here in ELSEWHERE.values()} <= known
