"""The page as data: what is in it, that it is the library's, how large it is, and that nothing in it can act."""

from __future__ import annotations

import json
import math
import re
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import write_csv

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import UnwritableFile
from steelyard.core.text import count, number, span
from steelyard.display.report import content_of, page_of
from steelyard.display.report.data_and_methods import METHODS, call_of
from steelyard.display.report.figures import chosen_stops, operating_of, simplex_of
from steelyard.display.report.page import embedded
from steelyard.display.report.tables import MOST_CLASSES
from steelyard.display.report.wording import AS_BEFORE, drawn, packed
from steelyard.results.reliability import Reliability
from tests.browser import samples
from tests.cases_of import counted

LIMIT = 500_000  # bytes of a page


def unpacked(column: str) -> list[str]:
    found: list[str] = []
    for word in column.split("\n"):
        found.append(found[-1] if word == AS_BEFORE else word)
    return found


def scores(rows: int, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    truth = random.random(rows) < 0.3
    return truth, 1 / (1 + np.exp(-(random.normal(size=rows) + 1.3 * truth - 1)))


def data_in(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


# --- what is in it ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_the_content_is_plain_and_the_same_every_time(name: str) -> None:
    first, again = (content_of(samples.SAMPLES[name]()) for _ in range(2))
    assert json.loads(json.dumps(first, allow_nan=False)) == first
    assert first == again


def test_infinite_scores_are_stops_that_json_can_hold() -> None:
    content = content_of(samples.endless())
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    some, every = content["operating"]["models"]
    assert [some["threshold"][place] for place in (0, -2, -1)] == ["-Infinity", "Infinity", None]
    assert every["threshold"] == ["-Infinity", "Infinity", None]
    assert unpacked(some["threshold_text"])[:1] == ["-∞"]
    truth, odds = scores(5_000)
    odds = np.array(odds)
    odds[:2] = np.inf, -np.inf
    (many,) = content_of(sy.assess(truth, odds, event=1, threshold=0.5))["operating"]["models"]
    assert [many["threshold"][place] for place in (0, -2)] == ["-Infinity", "Infinity"]
    assert 400 < len(many["threshold"]) <= 601


def test_every_measure_has_the_librarys_numbers_and_its_own_story() -> None:
    result = samples.two()
    found = {one["name"]: one for one in content_of(result)["measures"]}
    assert list(found) == [measure.label for measure in result.settings.measures]
    for label, told in found.items():
        for model, estimate in zip(result.models, told["estimates"], strict=True):
            one = result[model][label]
            assert estimate["text"] == number(one.value)
            assert estimate["interval"] == span(one.low, one.high)
            assert estimate["method"] == one.method
        assert told["says"]
        assert told["source"]
    assert found["kappa"]["formula"]
    assert found["kappa"]["source"].startswith("Cohen (1960)")


def test_every_stop_is_a_row_of_the_table_of_thresholds() -> None:
    result = samples.one()
    stops = content_of(result)["operating"]["models"][0]
    table = result.thresholds(["sensitivity", "precision"])
    assert [value if value is not None else np.inf for value in stops["threshold"]] == table["threshold"][::-1]
    for place, name in enumerate(("tp", "fn", "fp", "tn")):
        assert unpacked(stops["counts"][place]) == [count(value) for value in table[name][::-1]]
    assert unpacked(stops["precision_text"]) == [number(value) for value in table["precision"][::-1]]
    assert stops["sensitivity"] == pytest.approx(table["sensitivity"][::-1], abs=1e-7)


@pytest.mark.parametrize("which", ["weight", "group", "both"])
def test_beside_the_slider_weighted_and_clustered_rows_have_the_intervals_of_the_measures(which: str) -> None:
    truth, said = scores(400)
    random = np.random.default_rng(5)
    given: dict[str, Any] = {"weight": random.lognormal(0, 1, 400), "group": random.integers(0, 25, 400)}
    result = sy.assess(truth, said, event=True, **{name: given[name] for name in given if which in (name, "both")})
    stops = content_of(result)["operating"]["models"][0]
    table = result.thresholds(["sensitivity"])
    bounds = zip(table["sensitivity_low"][::-1], table["sensitivity_high"][::-1], strict=True)
    assert unpacked(stops["sensitivity_interval"]) == [span(low, high) for low, high in bounds]
    for name in ("sensitivity", "precision"):
        assert unpacked(stops[f"{name}_interval"])[stops["start"]] == span(result[name].low, result[name].high)


def test_of_many_thresholds_some_are_kept_and_all_of_them_are_exact() -> None:
    truth, said = scores(30_000)
    result = sy.assess(truth, said, event=True)
    stops = content_of(result)["operating"]["models"][0]
    assert len(stops["threshold"]) <= 1_000 < stops["all"] == 30_001
    called = unpacked(stops["called"][0])
    for place in range(0, len(called), 97):
        threshold = stops["threshold"][place]
        assert called[place] == count(float((said >= threshold).sum()) if threshold is not None else 0.0)
    start = stops["start"]
    assert unpacked(stops["counts"][0])[start] == count(result.confusion()[1, 1])


@pytest.mark.parametrize(
    ("options", "text"),
    [({}, "0.5"), ({"threshold": 0.35}, "0.35"), ({"threshold": 7.0}, "no score ≥ 7"), ({"threshold": "best:f1"}, "")],
)
def test_the_threshold_of_the_result_has_a_mark_of_its_own(options: dict[str, Any], text: str) -> None:
    truth, said = ["no", "no", "yes", "no", "yes", "yes"], [0.1, 0.3, 0.4, 0.6, 0.8, 0.9]
    result = sy.assess(truth, said, event="yes", **options)
    operating = content_of(result)["operating"]
    own = operating["models"][0]["own"]
    assert own["text"] == (text or f"{result.decision.threshold:.4g}")  # type: ignore[union-attr]
    assert own["fpr"] == pytest.approx(1 - result["specificity"].value, abs=1e-6)
    assert own["sensitivity"] == pytest.approx(result["sensitivity"].value, abs=1e-6)
    assert operating["marked"].startswith("A ring is the threshold")
    scored = content_of(sy.assess(truth, score=said, event="yes"))["operating"]
    assert scored["models"][0]["own"] is None
    assert scored["marked"] == ""


@pytest.mark.parametrize("most", [1_000, 199, 119, 29])
def test_a_condition_in_whole_percents_finds_its_own_stop(most: int) -> None:
    truth, said = scores(20_000)
    one = sy.assess(truth, said, event=True).event_ranking()
    hits, alarms = one.plain.hits, one.plain.alarms
    kept = chosen_stops(hits, alarms, one.ranking.thresholds, 5_000, most)
    assert len(kept) <= most
    assert {0, 5_000, len(hits) - 1} <= set(kept.tolist())
    sensitivity, specificity = hits / hits[-1], 1 - alarms / alarms[-1]
    # Where few have room, tens have it before fives, and fives before others.
    for level in (0.5, 0.8, 0.95, 0.99)[: 4 if most > 200 else 3 if most > 100 else 2]:
        assert int(np.flatnonzero(sensitivity >= level)[0]) in kept
        assert int(np.flatnonzero(specificity >= level)[-1]) in kept


def test_of_many_classifiers_each_has_fewer_stops() -> None:
    truth, said = scores(500)
    tilted = {f"m{power}": said ** (1 + power / 6) for power in range(6)}
    result = sy.compare(truth, tilted, event=True, measures=["error", "auc"])
    found = operating_of(result.assessments, {})
    assert found is not None
    for stops, name in zip(found["models"], result.models, strict=True):
        assert len(stops["threshold"]) <= 200
        assert stops["threshold"][0] == tilted[name].min()
        assert stops["threshold"][-2:] == [tilted[name].max(), None]
        assert unpacked(stops["counts"][0])[stops["start"]] == count(result[name].confusion()[1, 1])
        for level in (0.1, 0.5, 0.8, 0.95):  # the exact stop: any higher one finds less
            reached = min(rate for rate in stops["sensitivity"] if rate >= level)
            assert reached == pytest.approx(np.ceil(level * truth.sum() - 1e-9) / truth.sum(), abs=1e-6)


def test_forecasts_that_were_sorted_already_give_the_same_reliability() -> None:
    truth, said = scores(500)
    weight = np.random.default_rng(1).integers(0, 4, 500)
    result = sy.assess(truth, np.round(said, 2), event=True, weight=weight, weight_kind="frequency")
    usual = result.reliabilities()[True]
    found = Reliability.of_ranking(result.event_ranking())
    for name in ("forecast", "happened", "mass"):
        np.testing.assert_array_equal(getattr(found, name), getattr(usual, name))
    assert found.unit == usual.unit


def test_in_which_ways_forecasts_are_off_is_told_as_the_library_tells_it() -> None:
    truth, said = scores(300)
    result = sy.compare(truth, {"good": said, "labels": said > 0.5}, event=True)
    (curves,) = content_of(result)["reliability"]
    told = [cell for cell, _ in curves["models"][0]["line"]]
    assert told == [number(value) for value in result["good"].calibration_line()["value"]]
    assert curves["models"][1] is None


def test_curves_of_three_classes_enclose_their_areas() -> None:
    random = np.random.default_rng(5)
    chance = np.round(random.dirichlet([1, 1, 1], 300), 2)
    chance /= chance.sum(axis=1, keepdims=True)
    truth = (random.random(300)[:, None] > np.cumsum(chance, axis=1)).sum(axis=1)
    result = sy.assess(truth, chance)
    content = content_of(result)
    assert content["curves"] == "The areas below the curves, with their intervals, stand in the table by class."
    for label, one in enumerate(content["reliability"]):
        roc = one["models"][0]["roc"]
        area = np.trapezoid(roc["sensitivity"], roc["fpr"])
        assert area == pytest.approx(result["auc", label].value, abs=1e-4)  # as many digits as are drawn
        assert (roc["fpr"][0], roc["sensitivity"][-1]) == (0.0, 1.0)
    assert content_of(sy.assess(truth == 1, chance[:, 1], event=True))["curves"] is None


@pytest.mark.parametrize("measures", [["auc"], ["log_score"], ["brier", "auc"]])
@pytest.mark.parametrize("classes", [2, 3])
def test_nothing_need_be_counted(measures: list[str], classes: int) -> None:
    chance = np.random.default_rng(7).dirichlet([1] * classes, 60)
    truth = np.arange(60) % classes
    content = content_of(sy.assess(truth, chance, measures=measures))
    assert content["confusion"] is None
    assert {one["name"] for one in content["measures"]} == set(measures)
    page_of(content)


def test_a_class_that_never_occurs_has_no_curve() -> None:
    chance = np.random.default_rng(6).dirichlet([1, 1, 1], 40)
    content = content_of(sy.assess([0, 1] * 20, chance, scale=sy.Scale([0, 1, 2])))
    assert [one["models"][0]["roc"] is None for one in content["reliability"]] == [False, False, True]
    assert content["curves"].endswith("2 of 3 classes are drawn.")


def test_words_come_first() -> None:
    one, two = content_of(samples.one()), content_of(samples.two())
    error = samples.one()["error"]
    assert one["verdict"][0].startswith(f"prediction is wrong on {error.value:.1%} of 80 rows")
    assert two["verdict"][0].startswith(str(samples.two().verdict()).partition(";")[0])
    page = page_of(two)
    assert page.index('<h2 id="verdict-title"') < page.index('<h2 id="measures-title"')


def test_what_is_neither_better_nor_worse_is_said_of_whom_it_is_of() -> None:
    said = {"bold": [1, 1, 1, 0], "timid": [0, 0, 1, 0]}
    verdict = content_of(sy.compare([1, 0, 1, 0], said, event=1, measures=["detection_prevalence"]))["verdict"]
    assert [line.partition(" 0.")[0] for line in verdict] == [f"{name}: detection prevalence [1]" for name in said]


@pytest.mark.parametrize("method", ["delta", "plain", "bootstrap", "percentile"])
def test_every_way_to_an_interval_is_told(method: Any) -> None:
    truth, said = scores(60)
    content = content_of(sy.assess(truth, said, event=True, method=method, replicates=100))
    ways = {one["method"] for measure in content["measures"] for one in measure["estimates"]}
    told = [name for name, words in METHODS.items() if words in content["methods"]]
    assert all(any(way.startswith(name) for name in told) for way in ways)


def test_what_rows_of_a_class_weigh_is_not_called_a_number_of_rows() -> None:
    truth, said = scores(60)
    weight = np.random.default_rng(2).random(60) + 3
    thrice = counted(np.full(60, 3))
    for options, title in (({"weight": weight}, "weight"), (thrice, "rows"), ({}, "rows")):
        result = sy.assess(truth, said > 0.5, by=np.arange(60) % 2, **options)
        content = content_of(result)
        assert content["classes"]["size"] == title
        assert content["slices"]["size"] == "rows"
        assert re.search(rf"class +{title} ", str(result))
        assert re.search(r"slice +rows ", str(result))


def test_parts_of_the_data_are_told_by_the_measures_that_were_asked_for() -> None:
    truth, said = scores(60)
    for asked in (["auc", "brier", "sensitivity"], ["log_score", "error"]):
        result = sy.assess(truth, said, event=True, by=np.arange(60) % 2, measures=asked)
        titles = [sy.find(name).title for name in asked]
        assert content_of(result)["slices"]["measures"] == titles
        assert re.search(r"slice +rows +" + " +".join(titles) + r" *\n", str(result))


def test_values_in_training_have_as_many_digits_as_those_beside_them() -> None:
    wrong = {"t": ["a", "a", "b", "b"], "s": ["a", "b", "a", "b"]}
    frames = [pa.table({**wrong, "w": [400_000, odd, 50_000, 550_000 - odd]}) for odd in (100_000, 98_500)]
    columns: dict[str, Any] = {"truth": "t", "assigned": "s", "weight": "w", "weight_kind": "frequency"}
    found = sy.assess(frames[0], training=frames[1], measures=["error"], **columns)
    assert re.search(r"error +0\.1500 .* 0\.1485 +0\.0015", str(found))


def test_rare_errors_are_not_said_to_be_none() -> None:
    truth = np.arange(100_000) % 2
    said = np.where(np.arange(100_000) < 30, 1 - truth, truth)
    (line, *_) = content_of(sy.assess(truth, said))["verdict"]
    assert line == "prediction is wrong on 0.030% of 100,000 rows (95% interval 0.021% to 0.043%)."


def test_whoever_does_worse_than_guessing_is_told_so() -> None:
    truth = np.arange(60) % 2
    worse, unsure = content_of(sy.assess(truth, 1 - truth)), content_of(sy.assess(truth, [0, 1, 1, 0] * 15))
    assert worse["verdict"][1].startswith("Guessing would do better: kappa -")
    assert unsure["verdict"][1].startswith("It cannot be told from guessing: kappa 0.0")


def test_counts_of_the_data_are_told() -> None:
    truth, said = scores(60)
    group, weight = [row // 3 for row in range(60)], np.random.default_rng(2).random(60)
    facts = dict(content_of(sy.assess(truth, said, event=True, group=group, weight=weight))["data"])
    assert facts["Rows"] == "60"
    assert facts["Clusters"] == "20"
    assert facts["Weights"].startswith("sampling weights")
    twice: dict[str, Any] = {"event": True, "weight": [2] * 60, "weight_kind": "frequency"}
    for result in (sy.assess(truth, said, **twice), sy.compare(truth, {"a": said, "b": said > 0.5}, **twice)):
        assert dict(content_of(result)["data"])["Weights"] == "how often rows occurred: 120 in all"
    alone = dict(content_of(sy.assess(truth, said > 0.5, **twice))["data"])  # made of counts
    assert alone["Weights"] == "no sampling weights: a row counts as often as it occurred"
    assert dict(content_of(samples.one())["data"])["Weights"] == "none: every row counts once"
    labels: list[str | None] = ["a", "b", None, "a"]
    dropped = dict(content_of(sy.assess(labels, ["a", "b", "a", "b"], missing="drop"))["data"])
    assert dropped["Dropped"] == "1 row with a missing value"
    parts = sy.assess(labels, ["a", "b", "a", "b"], missing="drop", by=["x", "x", "x", "y"]).slices["y"]
    assert dict(content_of(parts)["data"])["Dropped"] == "1 row of all parts with a missing value"
    assert "1 of all parts dropped (missing)" in repr(parts)


def test_methods_tell_what_clusters_do() -> None:
    truth, said = scores(60)
    patients = content_of(sy.assess(truth, said, event=True, group=[row // 3 for row in range(60)]))
    (told,) = [method for method in patients["methods"] if "clusters" in method]
    assert "Obuchowski 1997" in told
    assert not any("Obuchowski" in method for method in content_of(sy.assess(truth, said, event=True))["methods"])


def test_without_an_event_the_last_class_is_spoken_of_and_that_is_said() -> None:
    truth, said = scores(80)
    names = np.where(truth, "ill", "hale").tolist()
    content = content_of(sy.assess(names, np.stack([1 - said, said], axis=1), scale=sy.Scale(["hale", "ill"])))
    assert content["operating"]["guessed"]
    assert content["operating"]["event"] == "ill"


def test_a_classifier_that_gave_labels_stands_beside_one_that_gave_scores() -> None:
    truth, said = scores(80)
    content = content_of(sy.compare(truth, {"scored": said, "labelled": said > 0.5}, event=True))
    assert content["operating"]["models"][1] is None
    assert content["reliability"][0]["models"][1] is None


def test_rows_that_make_no_difference_do_not_decide() -> None:
    truth, said = scores(80)
    twins = content_of(sy.compare(truth, {"a": said, "b": said**0.9 / (said**0.9 + (1 - said) ** 0.9)}, event=True))
    assert twins["deciding"] == []  # the same labels by both
    turned = np.where(np.arange(80) == 3, 1 - said, said)
    (pair,) = content_of(sy.compare(truth, {"a": said, "b": turned}, event=True), rows=True)["deciding"]
    assert pair["rows"]["rows"][0][0] == "3"
    assert len(pair["patterns"]["rows"]) >= 1


def test_published_tables_and_tallies_have_a_page_too() -> None:
    content = content_of(sy.assess_table([[231, 27], [32, 54]], classes=["no", "yes"], event="yes"))
    assert content["operating"] is None
    assert content["confusion"]["tables"][0]["counts"] == [["231", "27"], ["32", "54"]]
    assert content["deciding"] == []


@pytest.mark.parametrize("unit", [1e-9, 1e-4, 1.0, 1e15])
def test_what_is_drawn_does_not_depend_on_the_unit(unit: float) -> None:
    grades = sy.Continuum([2 * unit, 4 * unit], classes=["low", "middle", "high"], sd=0.1 * unit)
    measured = np.linspace(1, 5, 40) * unit
    strip = content_of(sy.assess(measured, np.roll(measured, 3), scale=grades), rows=True)["strip"]
    assert strip["boundaries"] == [None, pytest.approx(2 * unit), pytest.approx(4 * unit), None]
    assert strip["models"][0]["value"] == pytest.approx(measured, abs=1e-4 * unit)
    assert drawn([0.0, math.nan, 1 / 3]) == [0.0, None, 0.33333]
    assert drawn([1e12, 1e12 + 1]) == [1e12, 1e12 + 1]
    assert drawn([-1e308, 1e308, math.inf]) == [-1e308, 1e308, None]


def test_of_many_classifiers_the_best_are_drawn_between_the_classes_and_that_is_said() -> None:
    random = np.random.default_rng(3)
    truth, said = np.arange(60) % 3, {}
    for place in range(14):
        odds = random.normal(size=(60, 3)) + 3 * place / 14 * np.eye(3)[truth]
        said[f"m{place}"] = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    result = sy.compare(truth, said, measures=["error", "log_score"])
    simplex = simplex_of(result.assessments, by_row=True)
    assert simplex is not None
    assert simplex["left_out"] == "12 of 14 classifiers are drawn, the first by error."
    errors = [result[name]["error"].value for name in result.models]
    assert sorted(errors)[11] == max(errors[panel["model"]] for panel in simplex["panels"])
    some = simplex_of({name: result[name] for name in ("m0", "m13")}, by_row=True)
    assert some is not None
    assert some["left_out"] == ""


def test_stops_that_lie_close_together_are_told_apart_and_no_row_is_lost_by_their_words() -> None:
    truth, said = scores(60)
    stops = content_of(sy.assess(truth, 0.5 + said * 1e-6, event=True))["operating"]["models"][0]
    words = unpacked(stops["threshold_text"])
    assert AS_BEFORE not in stops["threshold_text"].split("\n")
    assert [float(word) for word in words[:-1]] == pytest.approx(stops["threshold"][:-1], abs=1e-7)
    score = 0.5 + said * 1e-6
    called = [int((score >= float(word)).sum()) for word in words[:-1]]
    assert called == [int((score >= threshold).sum()) for threshold in stops["threshold"][:-1]]


def test_names_that_are_read_from_the_right_turn_no_numbers_around() -> None:
    truth, name = np.arange(60) % 3, "מסווג 7"
    content = content_of(sy.compare(truth, {name: truth, "b": truth[::-1]}))
    assert content["models"] == [f"\u2068{name}\u2069", "b"]
    assert content["verdict"][0].startswith(f"\u2068{name}\u2069 beats b by error")
    assert content["differences"]["rows"][0]["verdict"] == f"\u2068{name}\u2069 is better"
    many = content_of(sy.compare(truth, {name: truth, "b": truth[::-1], "c": truth[::-1]}, measures=["error"]))
    assert many["verdict"][0].startswith(f"\u2068{name}\u2069 has the lowest error")


# --- how large it is ----------------------------------------------------------------------------------------------


def test_a_million_rows_make_a_page_that_can_be_sent() -> None:
    truth, said = scores(1_000_000)
    page = page_of(content_of(sy.assess(truth, said, event=True)))
    assert len(page.encode()) < LIMIT


def test_ten_classifiers_of_twenty_classes_make_one_too() -> None:
    assert len(page_of(content_of(samples.many())).encode()) < LIMIT


def test_of_many_classes_the_worst_are_shown_and_that_is_said() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 3_000, 9_000)
    said = np.where(truth < 5, 2_999, truth)
    content = content_of(sy.assess(truth, said, scale=sy.Scale(range(3_000)), measures=["error", "sensitivity"]))
    confusion = content["confusion"]
    assert len(confusion["classes"]) == MOST_CLASSES + 1
    assert {"0", "1", "2", "3", "4", "2999"} <= set(confusion["classes"])
    assert confusion["classes"][-1] == "2,980 other classes"
    assert confusion["tables"][0]["all"] == "9,000"
    assert "20 of 3,000 classes" in content["classes"]["left_out"]
    assert len(page_of(content).encode()) < 200_000


def test_columns_of_words_are_packed_without_loss() -> None:
    words = ["1", "1", "2", "", "", "1"]
    assert packed(words) == "1\n=\n2\n\n=\n1"
    assert unpacked(packed(words)) == words


# --- nothing in it can act ----------------------------------------------------------------------------------------


def test_no_name_can_end_the_script_that_holds_it() -> None:
    content = content_of(samples.hostile(), title=samples.HOSTILE[0], command=samples.HOSTILE[1])
    page = page_of(content)
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<img" not in page
    assert "\u202e" not in page
    assert "\u2028" not in page
    assert data_in(page)["title"] == content["title"]


def test_signs_that_could_act_are_escaped() -> None:
    text = embedded({"name": "</script>&\u2028\u2029"})
    assert text == r'{"name":"\u003c/script\u003e\u0026\u2028\u2029"}'
    assert json.loads(text) == {"name": "</script>&\u2028\u2029"}


def test_only_the_pages_own_script_and_style_are_obeyed() -> None:
    page = page_of(content_of(samples.labels()))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<[^>]* (style|on\w+)=", page.partition("<body>")[2].partition("<script")[0])
    assert not re.search(r"(src|href)=\"(https?:)?//", page)


# --- where it goes ------------------------------------------------------------------------------------------------


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    samples.labels().report(tmp_path / "page.html", title="Monday")
    assert "<title>Monday</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(UnwritableFile):
        samples.labels().report(tmp_path / "nowhere" / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_names_that_no_encoding_can_write_do_no_harm(tmp_path: Path) -> None:
    samples.labels().report(tmp_path / "page.html", title="half \ud800 of a pair")
    assert r"half \ud800 of a pair" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ["assess", "iris.csv", "--truth", "species", "--membership", "lda_*"],
        ["compare", "iris.csv", "--truth", "species", "--model", "a b=lda_*", "--model", "qda=qda_*"],
        ["cv", "meat.csv", "--target", "lda", "--features", "expected*", "--models", "lda", "--folds", "3"],
    ],
    ids=lambda words: words[0],
)
def test_commands_write_the_page_and_the_page_tells_the_command(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = Path(sy.__file__).parent / "data" / "examples"
    for name in ("iris.csv", "meat.csv"):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--html", "page.html", "--measures", "error"]) == 0, capsys.readouterr().err
    call = data_in((tmp_path / "page.html").read_text(encoding="utf-8"))["call"]
    assert call.startswith(f"steelyard {words[0]} {words[1]}")
    assert call.endswith("--html page.html --measures error")


def test_what_no_command_made_tells_the_call() -> None:
    truth, said = scores(80)
    call = content_of(sy.assess(truth, said, event=True, measures=["error"], level=0.9))["call"]
    assert call == "steelyard.assess(y_true, prediction, event=True, measures=['error'], level=0.9).report(...)"


def test_a_published_table_tells_the_call_with_its_counts() -> None:
    table = sy.assess_table([[231, 27], [32, 54.5]], classes=["no", "yes"], event="yes", level=0.9)
    call = content_of(table)["call"]
    given = "[[231, 27], [32, 54.5]], scale=steelyard.Scale(['no', 'yes']), event='yes', level=0.9"
    assert call == f"steelyard.assess_table({given}).report(...)"
    again = eval(call.removesuffix(".report(...)"), {"steelyard": sy})  # noqa: S307
    assert str(again) == str(table)
    large = content_of(sy.assess_table(np.eye(13), measures=["error"]))["call"]
    assert large.startswith("steelyard.assess_table(..., scale=")


def test_sums_that_were_made_before_tell_the_call_that_takes_them() -> None:
    """It was that of rows, with y_true and prediction, which whoever has a tally has not."""
    truth, said = scores(60)
    one = sy.assess(truth, said > 0.5, by=["n", "s"] * 30, event=True).tally
    call = content_of(sy.assess_tally(one, measures=["error"], level=0.9))["call"]
    assert call == "steelyard.assess_tally(tally, measures=['error'], level=0.9).report(...)"
    two = sy.compare(truth, {"a": said > 0.5, "b": said > 0.4}).tally
    assert content_of(sy.compare_tally(two))["call"] == "steelyard.compare_tally(tally).report(...)"
    assert content_of(sy.assess_tally(two, "b"))["call"] == "steelyard.assess_tally(tally, 'b').report(...)"


def told_call(result: Any) -> str:
    found: str = content_of(result)["call"]
    return found.removesuffix(").report(...)").partition("prediction, ")[2]


def test_the_call_leaves_out_nothing_that_was_given() -> None:
    truth, said = scores(60)
    parts, chosen = ["n", "s"] * 30, ["error", "auc"]
    more: dict[str, Any] = {"event": True, "measures": chosen}
    rows = sy.assess(
        truth,
        said,
        weight=[1, 2] * 30,
        weight_kind="frequency",
        group=np.arange(60) // 2,
        by=parts,
        threshold=0.3,
        **more,
    )
    weights = "weight=..., weight_kind='frequency'"
    assert told_call(rows) == f"event=True, {weights}, group=..., by=..., threshold=..., measures={chosen}"
    how = sy.assess(truth, said, method="bootstrap", replicates=50, seed=4, undefined=0.0, **more)
    assert told_call(how).endswith("method='bootstrap', replicates=50, seed=4, undefined=0.0")
    more["measures"] += ["specificity", "sensitivity"]
    goal = sy.assess(truth, said, threshold="max specificity where sensitivity >= 0.8", **more)
    assert "threshold='max specificity where sensitivity >= 0.8'" in told_call(goal)
    assert "cost={'ill': {'ill': 0, 'well': 5}, 'well': {'ill': 1, 'well': 0}}" in content_of(samples.two())["call"]
    part = sy.assess(truth, said, by=parts, **more).slices["n"]
    assert "threshold" not in call_of(part, {part.model: part})
    assert call_of(part, {part.model: part}).endswith(").slices['n'].report(...)")
    assert ["Part of the data", "n"] in content_of(part)["data"]
    water = "scale=steelyard.Continuum([65], classes=['dry', 'wet'], sd=0.22, closed='right')"
    assert water in content_of(samples.continuum())["call"]


@pytest.mark.parametrize("measures", [["error"], ["error", "auc"]], ids=str)
@pytest.mark.parametrize("threshold", [None, "best:f1"])
def test_the_call_tells_which_rows_count(measures: list[str], threshold: str | None, tmp_path: Path) -> None:
    truth, said = scores(60)
    table = pa.table({"ill": truth, "p": said, "q": said, "site": ["n", "s", "o"] * 20})
    write_csv(table, tmp_path / "table.csv")
    more: dict[str, Any] = {"truth": "ill", "where": "site != 'o'", "event": True, "measures": measures}
    told = "truth=..., membership=..., where=\"site != 'o'\", event=True"
    for source in (table, tmp_path / "table.csv"):
        call = content_of(sy.assess(source, membership="p", threshold=threshold, **more))["call"]
        assert call.startswith(f"steelyard.assess(table, {told}, ")
        both = content_of(sy.compare(source, ["p", "q"], **more))["call"]
        of_each = f"{{'p': ..., 'q': ...}}, {told.replace('membership=..., ', '')}"
        assert both.startswith(f"steelyard.compare(table, {of_each}, ")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "cv=10"),
        ({"seed": 0}, "cv=10, seed=0"),  # which shuffles
        ({"cv": 3, "repeats": 2, "seed": 7}, "cv=3, repeats=2, seed=7"),
        ({"cv": "loo"}, "cv='loo'"),
        ({"cv": sy.Bootstrap(20)}, "cv=steelyard.Bootstrap(20)"),
        ({"cv": 3, "groups": np.arange(90) // 3}, "groups=..., cv=3"),
    ],
)
def test_the_call_tells_how_rows_were_held_out(given: dict[str, Any], told: str) -> None:
    random = np.random.default_rng(5)
    truth = random.integers(0, 2, 90)
    result = sy.cross_assess("lda", random.normal(size=(90, 2)) + truth[:, None], truth, measures=["error"], **given)
    call = call_of(result, result.assessments).replace("measures=['error'], ", "")
    assert told in call
    assert "weight" not in call
    assert "threshold" not in call


def test_the_page_can_be_opened_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("y,m\na,a\nb,b\na,b\n")
    words = ["assess", "rows.csv", "--truth", "y", "--assigned", "m", "--quiet", "--open"]
    assert main(words) == 0
    assert main([*words, "--html", "page.html"]) == 0
    assert [address.partition(":")[0] for address in opened] == ["file", "file"]
    assert opened[1].endswith("/page.html")
    assert Path(url2pathname(urlparse(opened[0]).path)).read_text(encoding="utf-8").startswith("<!")


def test_the_page_can_go_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    Path("rows.csv").write_text("y,m\na,a\nb,b\na,b\n")
    assert main(["assess", "rows.csv", "--truth", "y", "--assigned", "m", "--html", "-"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("<!doctype html>")
    assert data_in(page)["call"].endswith("--html -")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_measured_values_come_first_on_a_continuum() -> None:
    water = sy.Continuum([65], classes=["dry", "wet"], sd=0.22)
    measured = np.linspace(60, 70, 60)
    page = content_of(sy.assess(measured, np.where(np.sin(measured * 9) > 0, "wet", "dry"), scale=water))
    titles = [measure["title"] for measure in page["measures"]]
    assert titles[:3] == ["apparent error", "adjusted error", "label error"]
    assert titles.index("accuracy") > titles.index("true error, at most")
    plain = content_of(sy.assess(["a", "b"] * 10, ["a", "a"] * 10))
    assert [measure["title"] for measure in plain["measures"]][:2] == ["error", "accuracy"]


def test_classifiers_may_be_called_like_the_columns_of_what_decides() -> None:
    truth, first, second = list("abab" * 5), list("abbb" * 5), list("bbaa" * 5)
    for names in (("rows", "together"), ("row", "effect"), ("truth", "rows")):
        result = sy.compare(truth, dict(zip(names, (first, second), strict=True)), measures=["error"])
        (deciding,) = content_of(result, rows=True)["deciding"]
        for part in ("rows", "patterns"):
            assert {f"{name} (model)" for name in names} <= set(deciding[part]["columns"])


@pytest.mark.parametrize("group", [None, [place // 3 for place in range(30)]])
def test_means_of_costs_tell_their_method_with_clusters_too(group: Any) -> None:
    truth, said = list("ababa" * 6), list("abbba" * 6)
    costs = {"a": {"b": 2}, "b": {"a": 1}}
    content = content_of(sy.assess(truth, said, cost=costs, group=group, measures=["cost"]))
    names = ["Student's t", *(["Rows of a cluster"] if group else [])]
    assert [words.partition(" with")[0].partition(" are")[0] for words in content["methods"]] == names
