"""Change one place of a formula or rule at a time, and see whether the tests notice: python tools/mutate.py FILE ...

Each change is made in the memory of a forked process, which runs the tests up to the first that fails. The files on
disk stay as they are. A sample is drawn with a fixed seed, so that two versions of the code can be compared.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import os
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.USub: ast.UAdd,
}
TURNED = {"minimum": "maximum", "min": "max", "sqrt": "square", "log": "log1p", "exp": "expm1", "sum": "mean"}
NAMES = {one: other for pair in TURNED.items() for one, other in (pair, pair[::-1])}
SECONDS = 120  # of processor time; a change that makes the tests endless is noticed, too


class Change(NamedTuple):
    """One changed place.

    Attributes:
        path: The file.
        place: Which of the nodes of its tree, in the order of ast.walk.
        line: Where it stands.
        what: What it was and what it became.
    """

    path: Path
    place: int
    line: int
    what: str


def mutated(node: ast.AST) -> tuple[str, dict[str, Any]] | None:
    """Return what changes in a node, and its new fields; None where nothing does."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp) and type(node.op) in OPERATORS:
        other = OPERATORS[type(node.op)]
        return f"{type(node.op).__name__} -> {other.__name__}", {"op": other()}
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        other = OPERATORS[type(node.ops[0])]
        return f"{type(node.ops[0]).__name__} -> {other.__name__}", {"ops": [other(), *node.ops[1:]]}
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return f"{node.value} -> {not node.value}", {"value": not node.value}
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        value = node.value + 1
        return f"{node.value!r} -> {value!r}", {"value": value}
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        return f".{node.attr} -> .{NAMES[node.attr]}", {"attr": NAMES[node.attr]}
    return None


def in_functions(tree: ast.Module) -> set[int]:
    """Return the nodes inside the bodies of functions, without signatures and decorators."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {id(node) for function in functions for statement in function.body for node in ast.walk(statement)}


def changes_of(path: Path) -> Iterator[Change]:
    """Return every change of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = in_functions(tree)
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in inside and (change := mutated(node)):
            yield Change(path, place, getattr(node, "lineno", 0), change[0])


def changed_tree(change: Change) -> ast.Module:
    """Return the tree of a file with the change made."""
    tree = ast.parse(change.path.read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[change.place]
    for name, value in (mutated(copy.copy(node)) or ("", {}))[1].items():
        setattr(node, name, value)
    return ast.fix_missing_locations(tree)


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module with its change."""

    def __init__(self, change: Change, root: Path) -> None:
        """Take the change, and the folder that has the package."""
        self.change = change
        self.name = ".".join(change.path.resolve().relative_to(root).with_suffix("").parts).removesuffix(".__init__")

    def find_spec(self, name: str, path: object, target: object = None) -> Any:
        """Answer for this module alone."""
        del path, target
        package = [str(self.change.path.parent)] if self.change.path.stem == "__init__" else None
        if name != self.name:
            return None
        spec = importlib.util.spec_from_loader(name, self, is_package=package is not None)
        if spec and package:
            spec.submodule_search_locations = package
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        exec(compile(changed_tree(self.change), str(self.change.path), "exec"), module.__dict__)  # noqa: S102


def started(change: Change, root: Path, tests: Sequence[str]) -> int:
    """Start a process that runs the tests with a change, and return its number."""
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            sys.meta_path.insert(0, Changed(change, root))
            code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests])
        os._exit(int(code))
    return child


def unnoticed(changes: Sequence[Change], root: Path, tests: Sequence[str], processes: int) -> list[Change]:
    """Return the changes with which all tests pass."""
    running: dict[int, Change] = {}
    left, waiting = [], list(changes)
    while waiting or running:
        while waiting and len(running) < processes:
            change = waiting.pop(0)
            running[started(change, root, tests)] = change
        child, status = os.wait()
        if status == 0:
            left.append(running[child])
        del running[child]
    return sorted(left)


def main() -> int:
    """Draw changes, make each of them, and print those that no test noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="the formulas and rules to change")
    parser.add_argument("--root", type=Path, default=Path("src"), help="the folder that has the package")
    parser.add_argument(
        "--tests", action="append", required=True, help="what to run; again for more, the quickest first"
    )
    parser.add_argument("--sample", type=int, default=100, help="how many changes to make")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="how many at a time")
    given = parser.parse_args()
    root = given.root.resolve()
    every = [change for path in given.files for change in changes_of(path)]
    drawn = sorted(random.Random(given.seed).sample(every, min(given.sample, len(every))))  # noqa: S311
    start = time.monotonic()
    left = unnoticed(drawn, root, given.tests, given.processes)
    for change in left:
        print(f"{change.path}:{change.line}: {change.what}: no test fails")
    seconds = time.monotonic() - start
    print(f"{len(drawn) - len(left)} of {len(drawn)} changes noticed ({len(every)} possible), {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
