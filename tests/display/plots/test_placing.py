"""Labels cover nothing, wherever points, curves and legends lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.display.plots.point_labels import REACH, Box, Placed, Point, Room, place_labels, place_note

RADIUS = 4.0
MARGIN = 2.5  # what has so much room all around has room for certain

Picture = tuple[list[Point], list[Point], list[list[Point]], list[Point], list[Box], Box]
sides = st.floats(20, 320)
shares = st.floats(-0.2, 1.2)


def crosses(box: Box, start: Point, end: Point, margin: float = 0.0) -> bool:
    """Whether a straight line passes the inside of a box, made larger by a margin."""
    first, last = 0.0, 1.0
    low, high = (box.left - margin, box.bottom - margin), (box.right + margin, box.top + margin)
    for at, to, least, most in zip(start, end, low, high, strict=True):
        way = to - at
        if way == 0:
            if not least < at < most:
                return False
            continue
        one, other = sorted(((least - at) / way, (most - at) / way))
        first, last = max(first, one), min(last, other)
    return last - first > 1e-9


def apart(one: Box, other: Box, margin: float = 0.0) -> bool:
    """Whether two boxes have so much between them."""
    beside = one.right + margin <= other.left + 1e-9 or other.right + margin <= one.left + 1e-9
    return beside or one.top + margin <= other.bottom + 1e-9 or other.top + margin <= one.bottom + 1e-9


def around(point: Point, radius: float = RADIUS) -> Box:
    return Box(point[0] - radius, point[1] - radius, point[0] + radius, point[1] + radius)


def segments(lines: Sequence[Sequence[Point]]) -> list[tuple[Point, Point]]:
    return [pair for line in lines for pair in pairwise(line)]


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    """Points with the sizes of their labels, curves, markers, boxes and the area."""
    wide, high = draw(sides), draw(sides)
    left, bottom = draw(st.floats(-500, 500)), draw(st.floats(-500, 500))

    def spot() -> st.SearchStrategy[Point]:
        return st.tuples(shares, shares).map(lambda at: (left + at[0] * wide, bottom + at[1] * high))

    points = draw(st.lists(spot(), max_size=8))
    sizes = [draw(st.tuples(st.floats(3, 60), st.floats(5, 14))) for _ in points]
    lines = draw(st.lists(st.lists(spot(), min_size=2, max_size=6), max_size=2))
    corners = draw(st.lists(st.tuples(spot(), st.floats(1, 120), st.floats(1, 60)), max_size=2))
    boxes = [Box(x, y, x + across, y + up) for (x, y), across, up in corners]
    markers = points + draw(st.lists(spot(), max_size=3))
    return points, sizes, lines, markers, boxes, Box(left, bottom, left + wide, bottom + high)


def placed_in(picture: Picture) -> list[Placed | None]:
    points, sizes, lines, markers, boxes, area = picture
    return place_labels(points, sizes, [np.array(line) for line in lines], markers, boxes, area, RADIUS)


@settings(max_examples=60, deadline=None)
@given(pictures())
def test_labels_cover_nothing(
    picture: Picture,
) -> None:
    points, sizes, lines, markers, boxes, area = picture
    found = placed_in(picture)
    assert len(found) == len(points)
    there = [(place, each) for place, each in enumerate(found) if each is not None]
    for place, (box, leader) in there:
        assert box.left >= area.left - 1e-9 and box.right <= area.right + 1e-9
        assert box.bottom >= area.bottom - 1e-9 and box.top <= area.top + 1e-9
        assert box.right - box.left >= sizes[place][0] - 1e-9
        assert box.top - box.bottom >= sizes[place][1] - 1e-9
        others = [each.box for other, each in there if other != place]
        assert all(apart(box, other) for other in [*others, *boxes])
        assert all(apart(box, around(marker)) for marker in markers)
        assert not any(crosses(box, *segment) for segment in segments(lines))
        assert math.dist(box.nearest(points[place]), points[place]) <= REACH + 1e-6
        if leader is not None:
            assert math.dist(leader[0], points[place]) <= RADIUS + 1e-6
            assert math.dist(leader[1], box.nearest(points[place])) < 1e-6
            assert not any(crosses(other, *leader) for other in others)
        else:  # nobody takes it for the label of another point
            nearest = min(markers, key=lambda marker: math.dist(box.nearest(marker), marker))
            assert math.dist(nearest, points[place]) < 1e-5


@settings(max_examples=30, deadline=None)
@given(pictures())
def test_a_label_is_left_out_where_there_is_no_room_for_it(
    picture: Picture,
) -> None:
    points, sizes, lines, markers, boxes, area = picture
    found = placed_in(picture)
    labels = [each.box for each in found if each is not None]
    leaders = [each.leader for each in found if each is not None and each.leader is not None]
    for point, (wide, high), each in zip(points, sizes, found, strict=True):
        if each is not None:
            continue
        solid = [*labels, *boxes, *[around(marker) for marker in markers if math.dist(marker, point) > 1e-6]]
        for across in range(0, int(area.right - area.left), 9):
            for up in range(0, int(area.top - area.bottom), 9):
                x, y = area.left + across, area.bottom + up
                box = Box(x, y, x + math.ceil(wide), y + math.ceil(high))
                end = box.nearest(point)
                if (
                    box.right > area.right - 1
                    or box.top > area.top - 1
                    or not 2 * RADIUS + 3 < math.dist(end, point) < REACH - 1
                    or not all(apart(box, other, MARGIN) for other in solid)
                    or any(crosses(box, *segment, MARGIN) for segment in [*segments(lines), *leaders])
                    or any(crosses(other, point, end, MARGIN) for other in solid)
                    or any(near(leader, (point, end)) for leader in leaders)
                ):
                    continue
                pytest.fail(f"{box} is free for the label of {point}")


def near(one: tuple[Point, Point], other: tuple[Point, Point], margin: float = 4.0) -> bool:
    """Whether two straight lines come near each other, as seen at some of their points."""
    share = np.linspace(0, 1, 60)[:, None]
    first, second = (np.array(line[0]) + share * np.subtract(line[1], line[0]) for line in (one, other))
    return bool(np.hypot(*(first[:, None] - second[None]).transpose(2, 0, 1)).min() < margin)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(5, 60), st.floats(5, 14))
def test_a_label_alone_stands_beside_its_point(x: float, y: float, wide: float, high: float) -> None:
    area = Box(0.0, 0.0, 200.0, 150.0)
    (placed,) = place_labels([(200 * x, 150 * y)], [(wide, high)], [], [(200 * x, 150 * y)], [], area, RADIUS)
    assert placed is not None
    assert placed.leader is None
    assert math.dist(placed.box.nearest((200 * x, 150 * y)), (200 * x, 150 * y)) < 2 * RADIUS


def test_labels_right_and_below_are_preferred() -> None:
    (placed,) = place_labels([(50.0, 50.0)], [(20.0, 8.0)], [], [(50.0, 50.0)], [], Box(0.0, 0.0, 100.0, 100.0))
    assert placed is not None
    x, y = placed.box.centre
    assert x > 54 and y < 50


def test_a_label_that_must_stand_far_away_has_a_leader_around_others() -> None:
    area, point = Box(0.0, 0.0, 200.0, 200.0), (100.0, 100.0)
    ring = Box(70.0, 70.0, 130.0, 98.0)
    above = Box(70.0, 102.0, 130.0, 130.0)
    (placed,) = place_labels([point], [(30.0, 10.0)], [], [point], [ring, above], area, 1.0)
    assert placed is not None
    assert placed.leader is not None
    assert not crosses(ring, *placed.leader)
    assert not crosses(above, *placed.leader)
    walled = [Box(90.0, 90.0, 110.0, 95.0), Box(90.0, 105.0, 110.0, 110.0), Box(88.0, 90.0, 92.0, 110.0)]
    walled.append(Box(108.0, 90.0, 112.0, 110.0))
    assert place_labels([point], [(30.0, 10.0)], [], [point], walled, area, 1.0) == [None]


def test_of_two_that_cannot_both_have_room_one_stays() -> None:
    area, point = Box(0.0, 0.0, 34.0, 24.0), (17.0, 12.0)
    found = place_labels([point] * 9, [(12.0, 7.0)] * 9, [], [point], [], area, 2.0)
    assert 0 < sum(each is not None for each in found) < 9


def test_what_comes_too_late_is_tried_first() -> None:
    """The label of the first point would take the only place that the second one has."""
    area = Box(0.0, 0.0, 60.0, 14.0)
    found = place_labels([(30.0, 7.0), (3.0, 7.0)], [(22.0, 9.0)] * 2, [], [(30.0, 7.0), (3.0, 7.0)], [], area, 2.0)
    assert None not in found


def test_points_and_curves_that_have_no_place_do_no_harm() -> None:
    area, line = Box(0.0, 0.0, 100.0, 100.0), np.array([[0.0, 0.0], [math.nan, 50.0], [1e12, 1e12], [-1e12, 40.0]])
    found = place_labels([(math.nan, 5.0), (1e9, 5.0), (50.0, 20.0)], [(20.0, 8.0)] * 3, [line], [], [], area)
    assert found[:2] == [None, None]
    assert found[2] is not None
    assert not crosses(found[2].box, (1e12, 1e12), (-1e12, 40.0))
    tiny = place_labels([(0.5, 0.5)], [(20.0, 8.0)], [], [], [], Box(0.0, 0.0, 1.0, 1.0))
    none = place_labels([(0.0, 0.0)], [(20.0, 8.0)], [], [], [], Box(0.0, 0.0, 0.0, 0.0))
    assert tiny == none == [None]


def test_a_poster_has_no_more_cells_than_memory_has_room_for() -> None:
    area = Box(0.0, 0.0, 30_000.0, 20_000.0)
    (placed,) = place_labels([(15_000.0, 9_000.0)], [(20.0, 8.0)], [], [(15_000.0, 9_000.0)], [], area)
    assert placed is not None
    assert math.prod(Room(area).shape) <= 1_000_000


def test_a_note_stands_in_the_free_place_that_is_nearest_to_a_corner() -> None:
    room = Room(Box(0.0, 0.0, 100.0, 100.0))
    room.add_box(Box(60.0, 0.0, 100.0, 20.0))
    assert place_note((100.0, 0.0), (30.0, 10.0), room) == Box(70.0, 20.0, 100.0, 30.0)
    room.add_box(Box(0.0, 0.0, 100.0, 100.0))
    assert place_note((100.0, 0.0), (30.0, 10.0), room) is None
