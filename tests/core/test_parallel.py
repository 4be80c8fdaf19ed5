"""How work is dealt out to the cores."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections import deque
from collections.abc import Sequence

import pytest

from steelyard.core.threads import MOST_PORTIONS, WORTH_A_THREAD, Portions, ahead_of, comes_later, cores, shared


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.core.threads.allowed", lambda: 2)


def total(some: Sequence[int]) -> int:
    return sum(some)


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("items", [2, 3])
def test_cores_that_have_done_their_share_go_on_with_what_comes_later(items: int) -> None:
    left, available = deque(range(5)), list[int]()

    def later() -> bool:
        if not left:
            return False
        left.popleft()
        available.append(cores())
        return True

    with ahead_of(later):
        assert comes_later()
        assert sum(shared(range(items), total, WORTH_A_THREAD)) == sum(range(items))
    assert not comes_later()
    assert available == [1] * 5  # the other core is busy


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize(("items", "rows"), [(3, 10), (1, WORTH_A_THREAD)])
def test_nothing_is_begun_where_no_core_would_wait(items: int, rows: int) -> None:
    done: list[str] = []

    def later() -> bool:
        done.append("later")
        return False

    with ahead_of(later):
        assert sum(shared(range(items), total, rows)) == sum(range(items))
    assert not done


@pytest.mark.parametrize("available", [1, 2, 3])
@pytest.mark.parametrize("begun", [0, 1, 5, 100])
@pytest.mark.parametrize("rows", [0, 1, 100, 3 * WORTH_A_THREAD + 1, 100 * WORTH_A_THREAD])
def test_portions_are_the_same_whoever_takes_them(
    rows: int, begun: int, available: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.core.threads.allowed", lambda: available)
    portions = Portions(rows, lambda start, stop: (start, stop))
    taken = [portions.take() for _ in range(begun)]
    found = portions.results()
    assert taken == sorted(taken, reverse=True)
    assert found[0][0] == 0
    assert found[-1][1] == rows
    assert [stop for _, stop in found[:-1]] == [start for start, _ in found[1:]]
    assert len(found) == max(1, min(rows // WORTH_A_THREAD, MOST_PORTIONS))
    assert not portions.take()
    assert portions.results() == found


@pytest.mark.usefixtures("two_cores")
def test_what_goes_wrong_on_the_way_is_told_and_nothing_comes_later_any_more() -> None:
    def fail() -> bool:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), ahead_of(fail):
        shared(range(3), total, WORTH_A_THREAD)
    assert not comes_later()


FAULTS = """
import resource, sys
import numpy as np
import steelyard
if "{keep}":
    steelyard.assess([0, 1], [0, 1])
def work():
    some = [np.ones(1 << 17) for _ in range(4)]
for _ in range(5):
    work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have their own ways")
def test_memory_that_was_freed_is_at_hand() -> None:
    """Columns of a hundred thousand rows are not fetched from the system page by page, again and again."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}

    def faults(keep: str) -> int:
        command = [sys.executable, "-c", FAULTS.format(keep=keep)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)  # noqa: S603
        return int(done.stdout)

    assert faults("yes") < 200
    if faults("") < 1000:
        pytest.skip("this glibc takes large pages by itself, and there is nothing to be kept from")
