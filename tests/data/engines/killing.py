"""Work whose worker is killed in the middle, once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import steelyard as sy
from steelyard import Tally
from steelyard.data.engines import Engine
from steelyard.inference.settings import settle
from steelyard.inputs.request import Request
from steelyard.inputs.validate import Validator
from steelyard.passes.fold import Gathering
from steelyard.passes.plan import Plan
from steelyard.results import api
from tests.data.engines.rows import MODELS, table
from tests.passes.test_summing import alike


@dataclass(frozen=True)
class Deadly:
    """Does the work, but the first who comes to a share of this name says so in a file and waits for the end."""

    work: Callable[[Any], Any]
    name: str
    file: str

    def __call__(self, share: Any) -> Any:
        if share.name.endswith(self.name):
            try:
                with Path(self.file).open("x") as file:
                    file.write(f"{os.getpid()}\n")
            except FileExistsError:
                pass
            else:
                time.sleep(600)  # it is killed long before
        return self.work(share)


@dataclass(frozen=True)
class Doomed(Engine):
    """An engine that loses a worker when rows are counted."""

    engine: Engine
    name: str
    file: str

    def fold(self, work: Any, shares: Any, done: Callable[[Any], None] = lambda _: None) -> Any:
        counts = getattr(getattr(work, "start", None), "func", None) is Gathering
        return self.engine.fold(Deadly(work, self.name, self.file) if counts else work, shares, done)


@contextmanager
def killer(file: Path) -> Iterator[list[int]]:
    """Kills whoever writes its number into a file; tells whom."""
    killed: list[int] = []
    over = Event()

    def watch() -> None:
        while not over.wait(0.02):
            text = file.read_text() if file.exists() else ""
            if text.endswith("\n"):
                killed.append(int(text))
                os.kill(killed[0], signal.SIGKILL)
                return

    thread = Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def survived(engine: Engine, source: Any, name: str, folder: Path) -> Tally:
    """Lose a worker in the middle of counting: nothing is lost with it, and nothing counts twice."""
    file = folder / "running"
    request = Request("y", MODELS, Validator(weight="often", weight_kind="frequency", group="patient", by="site"))
    with killer(file) as killed:
        plan = Plan.of(request, source, engine=Doomed(engine, name, str(file)), settings=settle())
        tally = plan.tally(*plan.settled())
    assert killed
    assert killed[0] != os.getpid()
    assert tally.rows == sum(table()["often"].to_pylist())
    right = sy.compare(table(), MODELS, truth="y", weight="often", weight_kind="frequency", group="patient", by="site")
    alike(api.compare_tally(tally), right)
    return tally
