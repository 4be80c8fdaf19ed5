"""The page does what it shows: every number is the library's, every control works, and nothing else happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

import steelyard as sy
from steelyard.core.errors import harmless
from steelyard.core.text import count, number, shortened, span
from steelyard.results.assessment import Assessment

from .conftest import Open
from .samples import COST, HOSTILE, SAMPLES, binary, four, half_scored, labels, many, one, trained, two

DARK_INK, DARK_GREY = "rgb(28, 30, 33)", "rgb(90, 95, 102)"
SOME_STOPS = (0, 7, 23, 40)


def move(slider: Locator, stop: int) -> None:
    slider.evaluate("(node, stop) => { node.value = stop; node.dispatchEvent(new Event('input')); }", stop)


def counts(card: Locator) -> list[str]:
    return card.locator(".matrix .count").all_inner_texts()


def reading(card: Locator, name: str) -> str:
    return " ".join(card.locator(f"[data-reading={name}]").inner_text().split())


def stops(page: Page, model: int) -> list[float | None]:
    found: list[float | None] = page.evaluate(
        "model => JSON.parse(document.getElementById('data').textContent).operating.models[model].threshold", model
    )
    return found


def order(page: Page) -> list[str]:
    return page.locator("#measures tbody .term").all_inner_texts()


def expected(model: str, threshold: float | None) -> Assessment:
    truth, scores = binary()
    high = 2.0 if threshold is None else threshold
    return sy.assess(truth, scores[model], event="ill", threshold=high, cost=COST)


# --- the slider ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "name"), [(0, "near"), (1, "far")])
def test_every_stop_shows_what_the_library_says_of_that_threshold(opened: Open, model: int, name: str) -> None:
    page = opened("two")
    card, thresholds = page.locator("#operating .card").nth(model), stops(page, model)
    for stop in (*SOME_STOPS, len(thresholds) - 1):
        move(card.locator("input[type=range]"), stop)
        wanted = expected(name, thresholds[stop])
        assert counts(card) == [count(value) for value in wanted.confusion().ravel().tolist()]
        for measure in ("sensitivity", "specificity", "precision", "npv", "cost"):
            estimate = wanted[measure]
            text = reading(card, measure)
            assert text.split(" ")[0] == number(estimate.value)
            if measure in ("sensitivity", "specificity"):
                assert text.endswith(span(estimate.low, estimate.high))


def test_a_slider_begins_where_rows_are_assigned_now(opened: Open) -> None:
    card = opened("two").locator("#operating .card").first
    assert counts(card) == [count(value) for value in two()["near"].confusion().ravel().tolist()]


def test_the_keyboard_moves_a_slider_and_the_points_follow_it(opened: Open) -> None:
    page = opened("two")
    card, point = page.locator("#operating .card").first, page.locator("#operating figure .point").first
    before, where = counts(card), point.get_attribute("cx")
    card.locator("input[type=range]").focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    assert counts(card) != before
    assert point.get_attribute("cx") != where
    shown = card.locator("output").inner_text()
    assert card.locator("input[type=range]").get_attribute("aria-valuetext") == f"threshold {shown}"


@pytest.mark.parametrize("least", [0.5, 0.7, 0.85])
@pytest.mark.parametrize(
    ("rate", "other"), [("sensitivity", "specificity"), ("specificity", "sensitivity"), ("precision", "sensitivity")]
)
def test_a_condition_moves_the_slider_to_the_best_threshold(opened: Open, rate: str, other: str, least: float) -> None:
    page = opened("one")
    page.locator(".wish select").select_option(rate)
    page.locator(".wish input").fill(str(least))
    page.locator(".wish button").click()
    best = one().best_threshold(other, where=f"{rate} >= {least}")
    assert best.assessment is not None
    card = page.locator("#operating .card").first
    assert card.locator("output").inner_text() == number(best.threshold, 4)
    assert counts(card) == [count(value) for value in best.assessment.confusion().ravel().tolist()]
    assert number(best.threshold, 4) in page.locator(".wish p").inner_text()


def test_a_condition_that_cannot_be_met_says_so_and_moves_nothing(opened: Open) -> None:
    page = opened("one")
    before = counts(page.locator("#operating .card").first)
    for words, answer in (("1.5", "from 0 to 1"), ("", "from 0 to 1")):
        page.locator(".wish input").fill(words)
        page.locator(".wish form, form.wish").first.evaluate(
            "form => { form.noValidate = true; form.requestSubmit(); }"
        )
        assert answer in page.locator(".wish p").inner_text()
    assert counts(page.locator("#operating .card").first) == before


def test_labels_without_counts_have_no_card_and_all_else_is_drawn(opened: Open) -> None:
    page = opened("uncounted")
    expect(page.locator("html")).to_have_attribute("data-ready", "yes")
    assert page.locator("#operating .card").count() == 1
    assert page.locator("#reliability figure").count() == 1


def test_a_line_for_every_classifier_that_gave_probabilities(opened: Open) -> None:
    rows = opened("half_scored").locator("#reliability tbody tr")
    assert rows.count() == 1
    assert number(half_scored()["scores"].calibration_line()["value"][2]) in rows.first.inner_text()


def test_the_event_comes_first_whether_there_is_a_threshold_or_not(opened: Open) -> None:
    cards = opened("half_scored").locator("#operating .card").all()
    table = half_scored()["labels"].confusion()[::-1, ::-1]
    assert counts(cards[1]) == [count(value) for value in table.ravel().tolist()]
    for card in cards:
        assert card.locator("tbody th").all_inner_texts() == ["ill", "well", "all"]
        assert card.locator("thead th").all_inner_texts()[1:] == ["ill", "well", "all"]


def test_a_condition_on_classifiers_that_are_hidden_says_so(opened: Open) -> None:
    page = opened("two")
    for box in page.locator("#legend input").all():
        box.uncheck()
    page.locator(".wish button").click()
    assert page.locator(".wish p").inner_text() == "No classifier that has a threshold is shown."


# --- the threshold of the result on its curve ---------------------------------------------------------------------

COVERED = """() => {
  const svg = document.querySelector("#operating figure svg"), faults = [];
  const shown = (node) => node.getBoundingClientRect().width > 0;
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const labels = [...svg.querySelectorAll(".threshold")].filter(shown), all = svg.getBoundingClientRect();
  const boxes = labels.map((label) => label.getBoundingClientRect());
  boxes.forEach((box, place) => {
    const words = labels[place].textContent;
    boxes.slice(place + 1).forEach((other) => { if (meet(box, other)) faults.push(`${words} and a label`); });
    for (const circle of [...svg.querySelectorAll("circle")].filter(shown))
      if (meet(box, circle.getBoundingClientRect())) faults.push(`${words} and a point`);
    if (box.left < all.left || box.right > all.right || box.top < all.top) faults.push(`${words} leaves the picture`);
    for (const line of [...svg.querySelectorAll("path.line")].filter((line) => line.getTotalLength())) {
      const seen = line.getScreenCTM();
      for (let at = 0; at <= line.getTotalLength(); at += 1) {
        const { x, y } = line.getPointAtLength(at).matrixTransform(seen);
        if (x < box.left || x > box.right || y < box.top + 2 || y > box.bottom - 2) continue;
        faults.push(`${words} and a curve`);
        break;
      }
    }
  });
  return [labels.map((label) => label.textContent), faults];
}"""


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("two", ["0.5", "0.5"]),
        ("certain", ["0.5", "no score ≥ 0.5"]),
        ("endless", ["0", "0"]),
        ("one_sided", []),
        ("five_curves", ["0.5"] * 5),
        ("hostile_threshold", [f"{shortened(harmless(HOSTILE[1]), 14)} ≥ 0.3"]),
    ],
)
def test_the_threshold_of_the_result_is_labelled_and_its_label_covers_nothing(
    opened: Open, name: str, wanted: list[str], width: int
) -> None:
    page = opened(name, width=width)
    page.wait_for_timeout(100)
    assert page.evaluate(COVERED) == [wanted, []]
    sliders = page.locator("#operating input[type=range]").all()
    for stop in (0, 5, 20, 40):
        for slider in sliders:
            move(slider, stop)
        assert page.evaluate(COVERED) == [wanted, []]


def test_a_ring_stays_where_rows_are_assigned_while_the_point_follows_its_slider(opened: Open) -> None:
    page = opened("one")
    figure = page.locator("#operating figure").first
    ring, point = figure.locator(".own"), figure.locator(".point")

    def at(mark: Locator) -> list[float]:
        return [float(mark.get_attribute(name) or "nan") for name in ("cx", "cy")]

    before = at(ring)
    assert at(point) == pytest.approx(before, abs=0.01)
    move(page.locator("#operating input[type=range]").first, 3)
    assert at(ring) == before
    assert at(point) != pytest.approx(before, abs=1)
    assert "A ring is the threshold of the result" in figure.inner_text()


def test_the_label_of_a_hidden_classifier_is_hidden_too(opened: Open) -> None:
    page = opened("two")
    labels = page.locator("#operating .threshold:visible")
    assert labels.count() == 2
    page.get_by_label("near", exact=True).uncheck()
    assert labels.count() == 1


# --- the rest of the page -----------------------------------------------------------------------------------------


def test_the_table_is_sorted_by_any_column_and_goes_back(opened: Open) -> None:
    page, result = opened("one"), one()
    first = order(page)
    head = page.locator("#measures thead th[aria-sort]").nth(1)
    button = head.locator("button")
    button.click()
    assert head.get_attribute("aria-sort") == "descending"
    found = order(page)
    values = [float(text.replace(",", "")) for text in page.locator("#measures tbody td:nth-child(3)").evaluate_all(
        "cells => cells.map(cell => cell.firstChild.textContent)")]  # fmt: skip
    assert values == sorted(values, reverse=True)
    assert found != first
    assert sorted(found) == sorted(first)
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    button.click()
    assert head.get_attribute("aria-sort") == "none"
    assert order(page) == first
    assert page.locator("#measures tbody tr").count() == len(result.settings.measures)


def test_the_legend_hides_a_classifier_everywhere(opened: Open) -> None:
    page = opened("two")
    near, far = page.locator("[data-model='0']:visible"), page.locator("[data-model='1']:visible")
    both, others = near.count(), far.count()
    assert both > 5
    assert others > 5
    page.get_by_label("near", exact=True).uncheck()
    assert near.count() == 0
    assert far.count() == others
    page.set_viewport_size({"width": 900, "height": 800})  # figures are drawn anew, and it stays hidden
    page.wait_for_timeout(100)
    assert near.count() == 0
    page.get_by_label("near", exact=True).check()
    assert near.count() == both


def test_of_many_classifiers_the_best_are_shown_at_first(opened: Open) -> None:
    page, result = opened("many"), many()
    errors = {name: result[name]["error"].value for name in result.models}
    best = sorted(errors, key=lambda name: errors[name])[:8]
    boxes = page.locator("#legend label")
    ticked = boxes.filter(has=page.locator("input:checked"))
    assert sorted(ticked.all_inner_texts()) == sorted(best)
    assert "the 8 with the lowest error are shown" in page.locator("#legend").inner_text()
    worst = list(result.models).index(max(errors, key=lambda name: errors[name]))
    assert page.locator(f"[data-model='{worst}']:visible").count() == 0
    page.get_by_role("button", name="Show all 10").click()
    assert ticked.count() == 10
    assert page.locator(f"[data-model='{worst}']:visible").count() > 0


def test_all_measures_of_several_classifiers_are_a_click_away(opened: Open) -> None:
    page = opened("two")
    shown = page.locator("#measures tbody tr:visible")
    assert shown.count() == 10
    page.locator("#measures .more button").click()
    assert shown.count() == len(two().settings.measures)


def test_a_measure_is_explained_to_pointers_and_to_keyboards(opened: Open) -> None:
    page = opened("one")
    tip, kappa = page.locator("#explanation"), page.locator(".term", has_text="kappa").first
    assert tip.is_hidden()
    kappa.hover()
    said = tip.inner_text()
    assert "Cohen (1960)" in said
    assert page.locator("#explanation code").inner_text()
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.locator(".term", has_text="accuracy").first.focus()
    assert tip.is_visible()
    assert tip.inner_text().startswith("accuracy")


def test_the_tetrahedron_turns_by_dial_and_by_hand(opened: Open) -> None:
    page = opened("four")

    def seen() -> list[str | None]:
        lines = page.locator("#simplex figure svg line").all()
        return [line.get_attribute("x1") for line in lines]

    first = seen()
    move(page.locator("#simplex input[type=range]").first, 60)
    turned = seen()
    assert turned != first
    box = page.locator("#simplex .turning").bounding_box()
    assert box is not None
    page.locator("#simplex .turning").scroll_into_view_if_needed()
    box = page.locator("#simplex .turning").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 130)
    page.mouse.up()
    assert seen() not in (first, turned)
    still = seen()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    assert seen() == still


def test_classes_and_parts_show_the_librarys_numbers(opened: Open) -> None:
    page, result = opened("two"), two()
    south = page.locator("#slices tbody tr", has_text="south")
    cells = south.locator("td").all_inner_texts()
    assert cells[0] == count(result["near"].slices["south"].n)
    assert cells[1].split()[0] == number(result["near"].slices["south"]["error"].value)
    page.locator("#slices select").select_option(label="sensitivity")
    found = page.locator("#slices tbody tr", has_text="south").locator("td").nth(2).inner_text().split()[0]
    assert found == number(result["far"].slices["south"]["sensitivity"].value)


def test_what_has_no_mean_over_classes_is_shown_by_class(opened: Open) -> None:
    page = opened("frequent")
    expect(page.locator("html")).to_have_attribute("data-ready", "yes")
    assert page.locator("#measures").count() == 0
    assert page.locator(".said").all_inner_texts() == ["prediction: all that was asked for is of single classes."]
    cells = page.locator("#classes tbody td:last-child").all_inner_texts()
    assert [cell.split()[0] for cell in cells] == ["0.500", "0.250", "0.250"]


def test_a_matrix_of_four_classes_shows_counts_and_shares(opened: Open) -> None:
    page, table = opened("four"), four().confusion()
    assert counts(page.locator("#confusion .card")) == [count(value) for value in table.ravel().tolist()]
    share = page.locator("#confusion .share").first.inner_text()
    assert share == f"row {table[0, 0] / table[0].sum():.1%}"


@pytest.mark.parametrize(("name", "place"), [("millions", "operating"), ("millions_of_labels", "confusion")])
def test_tables_of_millions_are_not_cut(opened: Open, name: str, place: str) -> None:
    page = opened(name, width=1100)
    tables = page.locator(f"#{place} .card table.matrix")
    expect(tables).to_have_count(2)
    room = tables.evaluate_all("all => all.map((one) => [one.scrollWidth, one.parentElement.clientWidth])")
    assert all(wide <= given for wide, given in room), room


# --- what any page must do ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_nobody_is_shut_out(opened: Open, name: str) -> None:
    page = opened(name)
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()
    page.emulate_media(color_scheme="dark")  # which changes nothing but colours
    expect(page.locator("#theme")).to_have_text("Light")
    found = Axe().run(page, options={"runOnly": ["color-contrast"], "resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("name", [*SAMPLES, "wordy"])
def test_a_phone_shows_all_of_it_without_scrolling_sideways(opened: Open, name: str) -> None:
    page = opened(name, width=360)
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    cut = page.evaluate(
        """() => [...document.querySelectorAll("svg text")].filter((text) => {
            const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
            return own.width && (own.left < all.left - 1 || own.right > all.right + 1 || own.top < all.top - 1);
        }).map((text) => text.textContent)"""
    )
    assert cut == []


def test_paper_gets_no_controls_and_no_dark(opened: Open) -> None:
    page = opened("two", dark=True)
    page.emulate_media(media="print")
    for control in ("#theme", "#download", ".save", ".wish", "input[type=range]"):
        assert page.locator(f"{control}:visible").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#verdict").is_visible()
    assert len(page.pdf()) > 10_000
    page = opened("many")
    assert page.locator(".on-paper").is_hidden()
    page.emulate_media(media="print")
    pairs = "The first 12 of {} differences.".format
    assert page.locator(".on-paper").inner_text() == pairs(8 * 7 // 2)  # of those that are shown
    assert page.locator("#legend label:visible").count() == 8
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Show all 10").click()
    page.emulate_media(media="print")
    assert page.locator(".on-paper").inner_text() == pairs(len(many().verdict().table()))
    assert page.locator("#legend").evaluate("node => getComputedStyle(node).maxHeight") == "none"


def test_notes_are_unfolded_on_paper_and_counts_stand_out(opened: Open) -> None:
    page = opened("three", width=720)
    notes = page.locator("#measures details ul")
    page.emulate_media(media="print")
    assert notes.is_hidden()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert notes.is_visible()
    sizes = [page.locator(f"#confusion .{kind}").first.bounding_box() for kind in ("count", "share")]
    count, share = (size["height"] for size in sizes if size)
    assert count > share
    cards = page.locator("#confusion .card").evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
    assert cards[0] == cards[1]  # two of three classes beside each other
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert notes.is_hidden()


def test_no_line_of_the_verdict_ends_before_a_p_value(opened: Open) -> None:
    said = opened("two").locator("#verdict .said").all_text_contents()
    assert any("p\u00a0=\u00a0." in line or "p\u00a0<\u00a0." in line for line in said)


PAPER = {**dict.fromkeys(SAMPLES, 720), "many": 1046}  # pixels between the margins of A4; many classifiers lie across


@pytest.mark.parametrize("name", PAPER)
def test_tables_fit_on_paper(opened: Open, name: str) -> None:
    page = opened(name, width=PAPER[name])
    page.emulate_media(media="print")
    widths = page.evaluate("[...document.querySelectorAll('table')].map((one) => one.getBoundingClientRect().width)")
    assert max(widths) <= PAPER[name]
    assert (page.locator("body.many-models").count() == 1) == (name == "many")


def test_the_theme_can_be_switched(opened: Open) -> None:
    page = opened("one")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert page.locator("#theme").inner_text() == "Light"


def test_hostile_names_are_shown_and_not_obeyed(opened: Open) -> None:
    page = opened("hostile")
    assert page.title() == "Comparison of 3 classifiers"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    body = page.locator("body").inner_text()
    assert "onerror" in body
    assert "{{ 7 * 7 }}" in body
    assert "\\u202e" in body
    assert "\u202e" not in body
    assert page.get_by_label("__proto__", exact=True).is_checked()
    assert not any(name in body for name in (HOSTILE[3],))  # too long to be shown whole


def test_no_other_script_is_obeyed(browser: Browser, folder: Path) -> None:
    file = folder / "tampered.html"
    labels().report(file)
    text = file.read_text(encoding="utf-8")
    script = "<script>document.title = 'taken'</script><img src='https://example.org/x.png'>"
    file.write_text(text.replace("</main>", f"{script}</main>"), encoding="utf-8")
    page, refused = browser.new_page(), []
    page.on("requestfailed", lambda request: refused.append((request.url, request.failure)))
    page.goto(file.as_uri())
    assert page.title() == "Assessment of prediction"
    assert refused == [("https://example.org/x.png", "csp")]
    page.close()


def test_sections_are_there_only_where_there_is_something_to_show(opened: Open) -> None:
    page = opened("labels")
    there = page.locator("main > section").evaluate_all("nodes => nodes.map(node => node.id)")
    assert there == ["verdict", "measures", "confusion", "classes", "basis"]
    page = opened("folds")
    assert page.locator("#folds svg circle").count() >= 20
    assert page.locator("#operating .card").count() == 2


def test_every_class_of_three_has_a_curve_of_every_classifier(opened: Open) -> None:
    page = opened("three")
    assert page.locator("#curves figure").count() == 3
    assert page.locator("#curves path.line").count() == 6
    assert page.locator("#curves path.line[data-model='1']:visible").count() == 3
    page.locator("#legend input").nth(1).uncheck()
    assert page.locator("#curves path.line[data-model='1']:visible").count() == 0


def test_a_curve_that_is_not_there_is_accounted_for(opened: Open) -> None:
    captions = opened("one_sided").locator("#operating figcaption").all_inner_texts()
    assert captions[:2] == ["There is no row of ill, and so no such curve."] * 2


def test_folds_without_errors_leave_room_for_their_interval(opened: Open) -> None:
    page = opened("faultless")
    bars = page.locator("#folds svg line[stroke-width='3']")
    ends = bars.evaluate_all("lines => lines.map(line => line.x2.baseVal.value)")
    assert len(ends) == 4
    assert max(ends) <= page.locator("#folds svg").evaluate("svg => svg.viewBox.baseVal.width")
    assert "rings" not in page.locator("#folds figcaption").inner_text()


def test_what_is_infinite_or_the_same_for_all_rows_is_drawn(opened: Open) -> None:
    page = opened("certain")
    assert page.locator("#reliability svg circle[data-model='1']").count() == 1
    row = page.locator("#measures tbody tr", has=page.locator(".term", has_text="LR+"))
    ends = row.locator("line[stroke-width='2']").evaluate_all("lines => lines.map(one => [one.x1, one.x2])")
    assert row.locator("td").nth(1).inner_text().startswith("∞")
    assert len(ends) == 1  # up to the edge; of the other classifier the ratio is undefined
    assert row.locator("circle").count() == 0


def test_numbers_of_any_size_stand_apart_on_an_axis(opened: Open) -> None:
    page = opened("far_off")
    figures = page.locator("#operating figure")
    expect(figures.nth(2).locator("text").first).to_be_visible()  # drawn, when there is room
    written = [text for text in figures.nth(2).locator("text.small").all_text_contents() if text]
    assert "1e12" in written
    assert any(text.endswith("e-12") for text in written)
    assert len(set(written)) == len(written)
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("#operating figure svg")].flatMap((svg) => {
            const all = svg.getBoundingClientRect();
            const boxes = [...svg.querySelectorAll("text")].map((one) => one.getBoundingClientRect());
            const texts = boxes.filter((one) => one.width);
            const cut = texts.filter((one) => one.left < all.left - 1 || one.right > all.right + 1);
            const over = texts.filter((one, place) => texts.slice(place + 1).some((other) =>
                Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2
                && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4));
            return [...cut, ...over];
        })"""
    )
    assert boxes == []


def test_there_is_no_room_for_notes_that_nobody_made(opened: Open) -> None:
    page = opened("trained", width=1200)
    heads = page.locator("#measures thead th")
    assert heads.all_inner_texts()[-1] == "method"
    assert page.locator("#measures tbody tr").first.locator("th, td").count() == heads.count()
    assert opened("labels").locator("#measures thead th").all_inner_texts()[-1] == "note"


def test_training_data_stand_beside(opened: Open) -> None:
    page, result = opened("trained", width=720), trained()
    assert result.training is not None
    heads = page.locator("#measures thead th").all_inner_texts()
    cells = page.locator("#measures tbody tr").first.locator("th, td")
    assert cells.nth(heads.index("training")).inner_text() == str(result.training["error"]).partition(" ")[0]
    assert cells.nth(heads.index("gap")).inner_text().split() == str(result.gap("error")).split()
    page.emulate_media(media="print")
    wide = page.locator("#measures table").evaluate("one => one.getBoundingClientRect().width")
    assert wide <= 720  # as much as A4 has between its margins


def test_the_end_of_a_span_has_few_digits(opened: Open) -> None:
    expect(opened("beneficial").locator("#measures .forest text")).to_have_text(["-0.11", "1"])


def test_large_tables_are_shown_one_at_a_time(opened: Open) -> None:
    page = opened("many")
    names = [f"a species with the number {code}" for code in range(20)]
    heads = page.locator("#confusion tbody th[title]")
    assert sorted(heads.all_inner_texts()) == sorted(shortened(name, 24) for name in names)
    assert sorted(heads.evaluate_all("nodes => nodes.map(node => node.title)")) == sorted(names)
    assert page.locator("#confusion table:visible").count() == 1
    page.locator("#confusion select").select_option(label="classifier 7")
    assert page.locator("#confusion h3").inner_text() == "classifier 7"


def test_a_large_table_has_all_the_room_there_is(opened: Open) -> None:
    """Of one classifier it had half of the page, beside nothing."""
    table = opened("a_dozen").locator("#confusion table.matrix")
    wide, given, page = table.evaluate(
        "one => [one.scrollWidth, one.parentElement.clientWidth, document.querySelector('#confusion').clientWidth]"
    )
    assert wide <= given
    assert given > 0.9 * page


# --- downloads ----------------------------------------------------------------------------------------------------


def saved(page: Page, button: Locator, folder: Path) -> Path:
    with page.expect_download() as waiting:
        button.click()
    target = folder / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return target


def test_everything_can_be_saved_as_json(opened: Open, tmp_path: Path) -> None:
    page, result = opened("two"), two()
    found: dict[str, Any] = json.loads(saved(page, page.locator("#download"), tmp_path).read_text())
    assert found["models"] == ["near", "far"]
    values = {one["name"]: [each["value"] for each in one["estimates"]] for one in found["measures"]}
    assert values["kappa"] == [result[name]["kappa"].value for name in ("near", "far")]
    tp = found["operating"]["models"][0]["counts"][0]
    assert len(tp) == len(found["operating"]["models"][0]["threshold"])


@pytest.mark.parametrize("name", ["two", "four", "continuum", "folds"])
def test_every_figure_can_be_saved_as_svg(opened: Open, tmp_path: Path, name: str) -> None:
    page = opened(name, dark=True)
    ink = page.evaluate("getComputedStyle(document.body).color")
    buttons = page.locator(".save")
    assert buttons.count() >= 1
    for place in range(buttons.count()):
        file = saved(page, buttons.nth(place), tmp_path)
        tree = ElementTree.parse(file).getroot()  # noqa: S314  (our own)
        assert tree.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(tree.iter())) > 10
        fills = {node.get("fill") for node in tree.iter("{http://www.w3.org/2000/svg}text")}
        assert DARK_INK in fills <= {DARK_INK, DARK_GREY}  # for white paper
    assert page.evaluate("getComputedStyle(document.body).color") == ink


def test_infinite_scores_have_their_place_on_the_slider(opened: Open) -> None:
    page = opened("endless")
    sliders = page.locator("#operating input[type=range]")
    assert sliders.count() == 2
    texts = page.locator("#operating").inner_text()
    assert "NaN" not in texts
    drawn = page.locator("#operating path").evaluate_all("paths => paths.map((path) => path.getAttribute('d') || '')")
    assert drawn
    assert not [path for path in drawn if "NaN" in path or "Infinity" in path]
