"""Settings that all tests share."""

import gc
import os
from collections.abc import Generator, Iterable, Iterator
from copy import copy
from importlib import import_module
from typing import Any

import pytest
from cyclopts.argument import ArgumentCollection
from hypothesis import is_hypothesis_test, settings

from tests.effort import repeats

# Tests run side by side, one on each core: libraries that start a thread for each core as well would only wait for each
# other. They read this when they are loaded, which is later.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# Machines are shared and noisy: how long an example takes says nothing about whether it is right.
settings.register_profile("steelyard", deadline=None, max_examples=repeats(6, 100))
settings.load_profile("steelyard")


@pytest.fixture(scope="session", autouse=True)
def _options_are_worked_out_once() -> Iterator[None]:
    """Work out the options of each command once: cyclopts does so twice a call, which takes half of a short command."""
    collection: Any = ArgumentCollection
    plain = collection._from_callable.__func__
    known: dict[Any, Any] = {}

    def once(kind: Any, /, function: Any, *defaults: Any, reserved: Iterable[str] = (), **given: Any) -> Any:
        reserved = tuple(reserved)
        key = (function, defaults, reserved, *given.items())
        if key not in known:
            known[key] = plain(kind, function, *defaults, reserved=reserved, **given)
        # What a call finds out is kept by options of its own.
        own = {id(option): copy(option) for option in known[key]}
        for option in own.values():
            option.tokens = []
            option.children = collection(own[id(child)] for child in option.children)
        return collection(own.values())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collection, "_from_callable", classmethod(once))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Keep what is collected out of every search for garbage: most objects are modules and tests, which stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Let modules go at the end: some report on standard error what of them is left."""
    gc.unfreeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let every search take part in the studies, where it tries more examples."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("study")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: Any, log: Any) -> Any:
    """Tests of a file stay in one process, so that what they share is made once; laws and hostile cases go anywhere.

    Files with many tests come first, and single tests fill what time is left.
    """
    by_scope: Any = import_module("xdist.scheduler").LoadScopeScheduling

    class Together(by_scope):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            alone = nodeid.startswith(("tests/laws/", "tests/hostile/"))
            return nodeid if alone else nodeid.partition("::")[0]

    return Together(config, log) if config.getvalue("dist") == "load" else None
