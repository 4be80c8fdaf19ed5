"""Work in other threads than this one."""

from __future__ import annotations

import time
from typing import Any

import pytest

from steelyard.threads import cores, side_by_side


def test_whoever_hands_out_work_does_some_of_it_and_is_told_results_in_order() -> None:
    def work(item: int) -> tuple[int, int]:
        time.sleep(0.01 * (3 - item))  # the last is the first to have finished
        return item, cores()

    assert side_by_side(work, range(3)) == [(0, 1), (1, 1), (2, 1)]
    assert side_by_side(work, range(0)) == []


@pytest.mark.parametrize("failing", [0, 1])
def test_what_goes_wrong_in_one_thread_is_told_when_all_have_ended(failing: int) -> None:
    ended = list[int]()

    def work(item: int) -> None:
        if item == failing:
            raise LookupError(f"item {item}")
        time.sleep(0.02)
        ended.append(item)

    with pytest.raises(LookupError, match=f"item {failing}"):
        side_by_side(work, range(3))
    assert sorted(ended) == [item for item in range(3) if item != failing]


def test_where_no_thread_is_to_be_had_this_one_does_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("steelyard.threads.start_new_thread", none)
    assert side_by_side(lambda item: 2 * item, range(3)) == [0, 2, 4]
