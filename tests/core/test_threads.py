"""Work in other threads than this one."""

from __future__ import annotations

import math
import time
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest

from steelyard.core.threads import allowed, alone, cores, meanwhile, quota, side_by_side


def test_whoever_hands_out_work_does_some_of_it_and_is_told_results_in_order() -> None:
    def work(item: int) -> tuple[int, int]:
        time.sleep(0.01 * (3 - item))  # the last is the first to have finished
        return item, cores()

    assert side_by_side(work, range(3)) == [(0, 1), (1, 1), (2, 1)]
    assert side_by_side(work, range(0)) == []


def test_whoever_keeps_to_this_thread_still_does_so_afterwards() -> None:
    with alone():
        assert side_by_side(lambda item: item, [7]) == [7]
        assert cores() == 1


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

    monkeypatch.setattr("steelyard.core.threads.start_new_thread", none)
    assert side_by_side(lambda item: 2 * item, range(3)) == [0, 2, 4]


def test_something_else_is_done_meanwhile() -> None:
    with meanwhile(lambda: current_thread().name) as other:
        mine = current_thread().name
    assert other.result() != mine


def test_what_goes_wrong_meanwhile_is_told() -> None:
    def fail() -> None:
        raise ValueError("no")

    with meanwhile(fail) as other:
        pass
    with pytest.raises(ValueError, match="no"):
        other.result()


def test_a_process_that_is_held_to_some_cores_starts_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 3, 7}, raising=False)
    for granted, found in ((math.inf, 3), (1.5, 2), (0.2, 1), (64.0, 3)):
        monkeypatch.setattr("steelyard.core.threads.quota", lambda _, granted=granted: granted)
        allowed.cache_clear()
        assert allowed() == found
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: None)
    allowed.cache_clear()
    assert allowed() == 1
    allowed.cache_clear()


@pytest.mark.parametrize(
    ("files", "granted"),
    [
        ({"cpu.max": "200000 100000\n"}, 2.0),
        ({"cpu.max": "max 100000\n"}, math.inf),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
        ({"cpu.max": "100000 0\n"}, math.inf),
        ({"cpu.max": "nonsense"}, math.inf),
        ({}, math.inf),
    ],
)
def test_what_a_container_is_granted(tmp_path: Path, files: dict[str, str], granted: float) -> None:
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert quota(tmp_path) == granted
