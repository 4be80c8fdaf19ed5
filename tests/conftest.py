"""Settings that all tests share."""

import os
from importlib import import_module
from typing import Any

import pytest
from hypothesis import settings

# Machines are shared and noisy: how long an example takes says nothing about whether it is right. Where the same
# examples are tried each time, many of them would find no more; the search is for those who work here.
EXAMPLES = 20 if "CI" in os.environ else 100
settings.register_profile("steelyard", deadline=None, max_examples=EXAMPLES)
settings.load_profile("steelyard")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: Any, log: Any) -> Any:
    """Tests of a file that share a cluster stay in one process, so that it is started once; others go anywhere."""
    by_scope: Any = import_module("xdist.scheduler").LoadScopeScheduling

    class Together(by_scope):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return nodeid.partition("::")[0] if "engines/test_" in nodeid else nodeid

    return Together(config, log) if config.getvalue("dist") == "load" else None
