"""Text from users in pictures, and strokes that can be told apart."""

from __future__ import annotations

from itertools import pairwise

import pytest
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb

from steelyard.display.plots.style import LONGEST_NAME, entry, legible, stroke


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lda", "lda"),
        ("cost in $ and $", r"cost in \$ and \$"),
        (r"back\$slash$", r"back\\$slash\$"),
        ("_private", " _private"),
        ("two\nlines\x1b[31m", r"two\nlines\x1b[31m"),
        ("turned \u202eround", r"turned \u202eround"),
        ("", "(no name)"),
        ("  ", "(no name)"),
        ("  _x ", " _x"),
    ],
)
def test_names_are_shown_sign_by_sign(name: str, shown: str) -> None:
    assert legible(name) == shown
    assert not is_math_text(legible(name))
    assert not legible(name).startswith("_")


def test_long_names_lose_their_middle() -> None:
    names = [f"Pipeline(StandardScaler(), PCA(20), LogisticRegression(C={c}))" for c in (1, 2)]
    shown = [legible(name) for name in names]
    assert {len(text) for text in shown} == {LONGEST_NAME}
    assert len(set(shown)) == 2
    assert all("…" in text and text.startswith("Pipeline(") for text in shown)
    assert legible("x" * LONGEST_NAME) == "x" * LONGEST_NAME


def test_facts_behind_a_long_name_are_kept() -> None:
    name = "x" * 100
    assert entry(name, f"{name}: AUC 0.912") == f"{legible(name)}: AUC 0.912"
    assert entry("lda", "linear: 5 $ and 6 $") == r"linear: 5 \$ and 6 \$"
    assert entry("lda", "lda") == "lda"


def test_forty_lines_all_differ_and_neighbours_differ_in_both_colour_and_dash() -> None:
    strokes = [stroke(index) for index in range(41)]
    assert len({(one["color"], one["linestyle"]) for one in strokes[:40]}) == 40
    assert strokes[40] == strokes[0]
    assert all(a["color"] != b["color"] and a["linestyle"] != b["linestyle"] for a, b in pairwise(strokes))


def test_no_colour_is_too_pale_for_white_paper() -> None:
    for index in range(8):
        red, green, blue = to_rgb(stroke(index)["color"])
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.72
