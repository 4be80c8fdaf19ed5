"""The command line. This module is small, so that signals are handled before anything large is loaded."""

from __future__ import annotations

import sys

from .interruption import Interruption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(tokens: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; without tokens, it is the command of this process."""
    if tokens is not None:
        from .line import run

        return run(tokens)
    with Interruption() as interruption:
        from .line import run

        return interruption.status(run, sys.argv[1:])
