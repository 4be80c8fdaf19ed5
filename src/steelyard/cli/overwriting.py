"""What a command writes, compared with what it reads, before it reads anything: nothing is overwritten by accident."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from inspect import BoundArguments
from pathlib import Path
from typing import Any

from ..core.errors import LONG, BadOption, SteelyardError, quoted
from ..data.paths import discover
from ..data.whole_files import CSV, JSON, MARKDOWN, REPORT, SCALED, SCALING, TALLY, forced, refuse_unwritable

# Parameters of commands that name what is read, and what is written.
READ = ("file", "files", "tallies", "training", "cost", "threshold", "choose", "learned")
WRITTEN = {"--json": JSON, "--csv": CSV, "--markdown": MARKDOWN, "--html": REPORT, "--out": TALLY}
WRITTEN |= {"--scaled": SCALED, "--regions": CSV, "--save": SCALING}  # of partition
FOLDERS = {"--out": ".tally", "--figures": ".png"}  # which files they are filled with
COSTS = "cost:"  # before a file of costs, where a rule for a threshold may stand


Outputs = list[tuple[str, Path]]  # options, and the files that they name


@contextmanager
def protected(bound: BoundArguments) -> Iterator[None]:
    """Refuse outputs that would replace an input, each other, or anything but a result; --force allows the last."""
    given = dict(_flat(bound.arguments))
    with forced(bool(given.get("force"))):
        folders = _folders(given)
        files = [(option, Path(name)) for option, name in _files(given) if option not in folders]
        outputs = [(option, path) for option, path in files if _is_file(path)]
        _refuse_clashes(outputs, folders)
        # Without --force, a link among the files of a folder that leads to an input is refused when it is written.
        inside = [each for option, folder in folders.items() if given.get("force") for each in _inside(option, folder)]
        _refuse_inputs([*outputs, *inside], given)
        for option, path in files:
            refuse_unwritable(path, WRITTEN[option])
        yield


def _flat(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All arguments by their names; those that come together one by one."""
    for name, value in arguments.items():
        if is_dataclass(value):
            yield from _flat({field.name: getattr(value, field.name) for field in fields(value)})
        else:
            yield name, value


def _files(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The files that options name as outputs, apart from standard output."""
    for option in WRITTEN:
        name = given.get(option.removeprefix("--"))
        if name is not None and str(name) != "-":
            yield option, str(name)


def _folders(given: Mapping[str, Any]) -> dict[str, Path]:
    """The folders that are filled with files."""
    wanted = {"--out": bool(given.get("each")), "--figures": True}
    found = {option: given.get(option.removeprefix("--")) for option in FOLDERS if wanted[option]}
    return {option: Path(name) for option, name in found.items() if name is not None}


def _inside(option: str, folder: Path) -> Outputs:
    """The files in a folder that an option may replace."""
    return [(option, path) for path in folder.rglob(f"*{FOLDERS[option]}")]


def _is_file(path: Path) -> bool:
    """Whether it is a file, or will be; pipes and devices can be written to by several."""
    try:
        return path.is_file() or not path.exists()
    except OSError:  # such as a name that is too long, which is refused when it is to be written
        return False


def _named(option: str, path: Path) -> str:
    """What messages call an output."""
    return f"{option} {quoted(str(path), LONG)}"


def _refuse_clashes(outputs: Outputs, folders: Mapping[str, Path]) -> None:
    """Refuse two outputs of one name, whatever it is written like."""
    mend = "Name another file for one of them"
    seen: dict[object, str] = {}
    for option, path in outputs:
        first = seen.setdefault(_identity(path), option)
        if first != option:
            raise BadOption(f"{first} and {_named(option, path)} are the same file", mend=mend)
        for filled, folder in folders.items():
            place, home = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
            if place == home or (place.is_relative_to(home) and place.name.endswith(FOLDERS[filled])):
                raise BadOption(f"{_named(option, path)} lies where {filled} writes its own files", mend=mend)


def _refuse_inputs(outputs: Outputs, given: Mapping[str, Any]) -> None:
    """Refuse outputs that are inputs; what does not exist yet cannot be one."""
    there = {_identity(path): _named(option, path) for option, path in outputs if path.exists()}
    for name in _inputs(given) if there else ():
        with suppress(OSError):
            if (found := there.get(_identity(Path(name)))) is not None:
                raise BadOption(f"{found} is an input of this command", mend="Name another file for the results")


def _inputs(given: Mapping[str, Any]) -> Iterator[str]:
    """The files of this machine that are going to be read."""
    from ..passes.merging import tally_paths

    for parameter in READ:
        value = given.get(parameter)
        for name in () if value is None else value if isinstance(value, tuple) else (value,):
            # What cannot be found is refused when it is read.
            with suppress(SteelyardError, OSError, ValueError):
                if parameter == "learned":  # no rows, and so no form of data
                    yield str(name)
                elif parameter == "tallies":
                    yield from map(str, tally_paths([name]))
                elif parameter not in ("threshold", "choose"):
                    yield from _found(name)
                elif str(name).startswith(COSTS):
                    yield from _found(str(name).removeprefix(COSTS))


def _found(name: Any) -> Iterator[str]:
    """The files of this machine that a name stands for."""
    for file in discover(name):
        if file.system is None or file.system.type_name == "local":
            yield file.path


def _identity(path: Path) -> tuple[int, int] | str:
    """What a file is known by, whatever it is called; one that does not exist yet by where it would lie."""
    try:
        found = path.stat()
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino
