"""Standard output and standard error: tables, signs of life, and files that are written whole or not at all."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from .whole_files import write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPE_WIDTH = 120
COMMAND: ContextVar[tuple[str, ...]] = ContextVar("COMMAND", default=())


def command_line() -> str | None:
    """The command that is being run, as a shell takes it; None where no command is."""
    words = COMMAND.get()
    return shlex.join(["steelyard", *words]) if words else None


def console() -> Console:
    """A wide one where there is no terminal to measure."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


def show(*parts: RenderableType) -> None:
    """Print tables and lines."""
    screen = console()
    for part in parts:
        screen.print(part)


def working(what: str) -> AbstractContextManager[object]:
    """A sign of life on a terminal, and silence elsewhere."""
    waiting = Console(stderr=True)
    return waiting.status(Text(what)) if waiting.is_terminal else nullcontext()


@contextmanager
def counting(what: str) -> Iterator[Callable[..., None]]:
    """A bar on a terminal, and silence elsewhere; told how much is done, of how much, and what that is in words."""
    from rich.progress import Progress

    waiting = Console(stderr=True)
    with Progress(console=waiting, transient=True, disable=not waiting.is_terminal) as progress:
        task = progress.add_task(escape(what), total=None)

        def shown(done: int, total: int, words: str = "") -> None:
            progress.update(
                task, completed=done, total=total, description=escape(f"{what}: {words}" if words else what)
            )

        yield shown


def watched(what: str, progress: Callable[[int, int], None] | bool) -> AbstractContextManager[Any]:
    """The bar, where one is wanted; a function that is told instead, where one is given; or nothing."""
    return counting(what) if progress is True else nullcontext(progress or None)


def write_to(target: str, text: str) -> None:
    """Write to a file, or to standard output."""
    if target == "-":
        sys.stdout.write(text)
    else:
        write_whole(target, text.encode())
