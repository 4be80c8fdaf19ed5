"""The command line, one file a group of commands.

Words come in; text, files and an exit status go out. This room computes nothing: each command is one call that users
of the library have, too. This module is small, so that signals are handled before anything large is loaded.
"""

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
