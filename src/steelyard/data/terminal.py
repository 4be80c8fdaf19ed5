"""Standard output and standard error: tables, signs of life, and files that are written whole or not at all."""

from __future__ import annotations

import io
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from ..core.errors import BadOption, harmless, quoted
from .whole_files import write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

    from .whole_files import FileKind

PIPE_WIDTH, READABLE = 120, 80
COMMAND: ContextVar[tuple[str, ...]] = ContextVar("COMMAND", default=())


def command_line() -> str | None:
    """The command that is being run, as a shell takes it; None where no command is."""
    words = COMMAND.get()
    return shlex.join(["steelyard", *words]) if words else None


class Screen(Console):
    """A console that goes on where nobody reads any more: what was found still decides the exit status."""

    def on_broken_pipe(self) -> None:
        """Throw away what is still to come."""
        close(self.file)


def console() -> Console:
    """A wide one where there is no terminal to measure."""
    return Screen(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


def error_console() -> Console:
    """Standard error, in lines that are not cut."""
    return Screen(stderr=True, highlight=False, soft_wrap=True)


def show(*parts: RenderableType) -> None:
    """Print tables and lines."""
    screen = console()
    for part in parts:
        screen.print(part, crop=False)


def told(*parts: RenderableType) -> None:
    """Print a story, in lines that are not too long to be read."""
    screen = console()
    for part in parts:
        screen.print(part, width=min(screen.width, READABLE), soft_wrap=False, highlight=False)


def complain(word: str, what: object) -> None:
    """Say on standard error what is wrong, in one line that can neither act on a terminal nor be cut."""
    said = Text(f"{word}: ", style="bold red") + Text(harmless(" ".join(str(what).split())))
    error_console().print(said)


def speak_unicode() -> None:
    """Write UTF-8 to pipes and files whatever the locale, and to a poorer terminal what it can show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8")


def open_closed() -> None:
    """Throw away what is written where whoever started the command has closed standard output or standard error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # It takes the number that was closed, so that no file of data can get it.
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


def close(stream: IO[str]) -> None:
    """Let nothing more be written to a stream, not even by the interpreter when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def put_out(text: str = "") -> None:
    """Write all there is to standard output, if there is still somebody to read it."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        close(sys.stdout)


def working(what: str, quiet: bool = False) -> AbstractContextManager[object]:
    """A sign of life on a terminal, and silence elsewhere."""
    waiting = Console(stderr=True)
    return waiting.status(Text(what)) if waiting.is_terminal and not quiet else nullcontext()


@contextmanager
def counting(what: str, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """A bar on a terminal, and silence elsewhere; told how much is done, of how much, and what that is in words."""
    from rich.progress import Progress

    waiting = Console(stderr=True)
    with Progress(console=waiting, transient=True, disable=quiet or not waiting.is_terminal) as progress:
        task = progress.add_task(escape(what), total=None)

        def shown(done: int, total: int, words: str = "") -> None:
            progress.update(
                task, completed=done, total=total, description=escape(f"{what}: {words}" if words else what)
            )

        yield shown


def watched(what: str, progress: Callable[[int, int], None] | bool | None) -> AbstractContextManager[Any]:
    """The bar, where one is wanted; a function that is told instead, where one is given; or nothing."""
    if not (isinstance(progress, bool) or progress is None or callable(progress)):
        raise BadOption(f"progress is {quoted(progress)}", mend="Say True or False, or give a function of two numbers")
    return counting(what) if progress is True else nullcontext(progress or None)


def write_to(target: str, text: str, kind: FileKind) -> None:
    """Write to a file of this kind, or to standard output."""
    if target == "-":
        put_out(text)
    else:
        write_whole(target, text.encode(), kind)
