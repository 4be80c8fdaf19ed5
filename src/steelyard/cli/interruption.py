"""Ctrl-C and SIGTERM: a process ends with its status at any moment, with one line at most, and leaves no half files.

While modules load, the process ends at once: a KeyboardInterrupt in the middle of an import may arrive as another
error. While a command runs, KeyboardInterrupt unwinds it, so that half-written files are removed and workers ended.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import get_ident, start_new_thread
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from sys import UnraisableHookArgs
    from typing import Any, Self

# The module around the built-in one loads others, which takes as long as all the rest of Python's start.
signal: Any = import_module("_signal" if "_signal" in sys.builtin_module_names else "signal")
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


class Interruption:
    """What signals do to the command of this process."""

    def __init__(self) -> None:
        """Nothing was interrupted yet."""
        self.cause = 0
        self._pending = 0
        self._unwinds = False
        self._main = get_ident()

    def __enter__(self) -> Self:
        """Handle signals, except those that the process was started to ignore."""
        named = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
        heard = [one for one in named if signal.getsignal(one) != signal.SIG_IGN]
        for signum in heard:
            signal.signal(signum, self._handle)
        if hasattr(signal, "sigwait") and {signal.SIGINT, signal.SIGTERM} <= set(heard):
            # Worker processes inherit the mask, and so print nothing on Ctrl-C: this process ends them.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            start_new_thread(self._watch, ())
        return self

    def __exit__(self, *_: object) -> None:
        """From here on, a signal ends the process at once again."""
        self._unwinds = False

    def status(self, run: Callable[[Sequence[str], Callable[[], bool]], int], words: Sequence[str]) -> int:
        """The exit status of a command; of an interrupted one that of the signal, whatever the interrupt became."""
        try:
            self._unwinds = True
            status = run(words, self._is_interrupted)
            self._unwinds = False
        except BaseException:
            if not self.cause:
                raise
            status = 0
        if self.cause == signal.SIGTERM:
            _say("error: ended by SIGTERM")
        return 128 + self.cause if self.cause else status

    def _is_interrupted(self) -> bool:
        return bool(self.cause)

    def _handle(self, signum: int, _: object) -> None:
        cause = self._pending or signum
        if self.cause or not self._unwinds:  # there is nothing to tidy up, or the user does not want to wait for it
            os._exit(128 + cause)
        self.cause = cause
        sys.unraisablehook = self._lost
        if "threading" in sys.modules:  # a thread fails because nobody waits for it any more
            setattr(sys.modules["threading"], "excepthook", lambda _: None)  # noqa: B010
        raise KeyboardInterrupt

    def _watch(self) -> None:
        """Wait for SIGINT, and interrupt the main thread by a signal that is not blocked there."""
        while True:
            self._pending = int(signal.sigwait({signal.SIGINT}))
            signal.pthread_kill(self._main, signal.SIGTERM)

    def _lost(self, unraisable: UnraisableHookArgs) -> None:
        """Interrupt again where the interrupt came in a place that cannot raise."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            start_new_thread(self._again, ())

    def _again(self) -> None:
        time.sleep(0.05)
        self._pending, self.cause = self.cause, 0
        signal.pthread_kill(self._main, signal.SIGTERM)


def _say(line: str) -> None:
    """Write a line to standard error, if there is one."""
    try:
        os.write(2, f"{line}\n".encode())
    except OSError:
        return
