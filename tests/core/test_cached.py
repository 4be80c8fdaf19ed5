"""Properties that are kept."""

from __future__ import annotations

from threading import Barrier, Thread
from typing import Any

from steelyard.core.cached import cached_property


class Counted:
    """Counts how often its property is computed."""

    def __init__(self, meeting: Barrier | None = None) -> None:
        self.calls = 0
        self.meeting = meeting

    @cached_property
    def answer(self) -> int:
        """What it is."""
        self.calls += 1
        if self.meeting is not None:
            self.meeting.wait(timeout=10)
        return 42


def test_it_is_computed_once_and_can_be_forgotten() -> None:
    counted = Counted()
    assert (counted.answer, counted.answer, counted.calls) == (42, 42, 1)
    del counted.answer
    assert (counted.answer, counted.calls) == (42, 2)


def test_the_class_tells_what_it_is() -> None:
    described: Any = Counted.answer
    assert described.__doc__ == "What it is."


def test_two_objects_in_two_threads_do_not_wait_for_each_other() -> None:
    meeting = Barrier(2)  # each waits within its property until the other is in its own
    both = Counted(meeting), Counted(meeting)
    threads = [Thread(target=lambda counted=counted: counted.answer) for counted in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [vars(counted).get("answer") for counted in both] == [42, 42]
