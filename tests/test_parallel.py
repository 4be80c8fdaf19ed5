"""How work is dealt out to the cores."""

from __future__ import annotations

from collections.abc import Sequence
from threading import current_thread

import pytest

from steelyard.parallel import WORTH_A_THREAD, ahead_of, comes_later, cores, meanwhile, shared


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)


def total(some: Sequence[int]) -> int:
    return sum(some)


@pytest.mark.usefixtures("two_cores")
def test_a_core_that_has_less_to_do_begins_with_what_comes_later() -> None:
    done: list[tuple[str, int]] = []
    with ahead_of(lambda: done.append((current_thread().name, cores()))):
        assert comes_later()
        assert sum(shared(range(3), total, WORTH_A_THREAD)) == 3
    assert not comes_later()
    ((name, available),) = done
    assert name != current_thread().name
    assert available == 1  # the other core is busy


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize(("items", "rows"), [(4, WORTH_A_THREAD), (3, 10), (1, WORTH_A_THREAD)])
def test_nothing_is_begun_where_no_core_would_wait(items: int, rows: int) -> None:
    done: list[str] = []
    with ahead_of(lambda: done.append("later")):
        assert sum(shared(range(items), total, rows)) == sum(range(items))
    assert not done


@pytest.mark.usefixtures("two_cores")
def test_what_goes_wrong_on_the_way_is_told_and_nothing_comes_later_any_more() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), ahead_of(fail):
        shared(range(3), total, WORTH_A_THREAD)
    assert not comes_later()


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
