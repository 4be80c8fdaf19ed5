"""Everything a developer runs, with nothing to install first: python3 dev.py COMMAND [arguments].

The first call makes .venv from the hashed lock; later calls find its stamp and start at once.
"""

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

# Nothing above or below may stop an older Python from reading this far: no :=, no match.
if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    sys.exit("steelyard needs Python 3.11 to 3.14; this is " + platform.python_version() + ".")

ROOT = Path(__file__).resolve().parent
PROGRAMS = "Scripts" if os.name == "nt" else "bin"
MADE_HERE = (
    *(".venv", ".venv-bench", "build", "dist", "site"),
    *(".cache", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
)


class Environment:
    """A virtual environment that holds one lock's packages and the project itself."""

    def __init__(self, folder: str, lock: str) -> None:
        self.folder = ROOT / folder
        self.lock = ROOT / lock
        self.stamp = self.folder / "steelyard-stamp"

    def program(self, name: str) -> str:
        """The path of a program inside the environment."""
        return str(self.folder / PROGRAMS / name)

    def ensure(self) -> None:
        """Make the environment, or bring it up to date; return at once when it is."""
        interpreter, contents = self._fingerprint()
        stamped = self.stamp.read_text().split() if self.stamp.exists() else []
        if stamped == [interpreter, contents]:
            return
        if stamped[:1] == [interpreter]:
            # From here until the end the environment counts as unfinished.
            self.stamp.unlink()
        else:
            # Without a stamp a set-up was cut short, and what it left cannot be trusted.
            self._create()
        self._install()
        self.stamp.write_text(f"{interpreter} {contents}\n")

    def _fingerprint(self) -> tuple[str, str]:
        """What needs a new environment when it changes, and what only needs another install."""
        # The folder counts too: an environment does not survive being moved.
        interpreter = f"{platform.python_implementation()} {platform.python_version()} {self.folder}"
        contents = (ROOT / "pyproject.toml").read_bytes() + self.lock.read_bytes()
        return hashlib.sha256(interpreter.encode()).hexdigest(), hashlib.sha256(contents).hexdigest()

    def _create(self) -> None:
        with_pip = importlib.util.find_spec("ensurepip") is not None
        if not with_pip and shutil.which("uv") is None:
            sys.exit("This Python cannot make environments; on Debian and Ubuntu: apt install python3-venv")
        print(f"Making {self.folder.name} with Python {platform.python_version()} ...", flush=True)
        venv.create(self.folder, clear=True, with_pip=with_pip, symlinks=os.name != "nt")

    def installer(self) -> list[str]:
        """The command that installs into the environment."""
        uv = shutil.which("uv")
        if uv:
            return [uv, "pip", "install", "--quiet", "--python", self.program("python")]
        return [self.program("python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]

    def _install(self) -> None:
        install = self.installer()
        print(f"Installing what {self.lock.name} lists, which takes about a minute once ...", flush=True)
        run(*install, "--require-hashes", "-r", str(self.lock), check=True)
        # The lock holds the build's own needs, so nothing is fetched for it unseen.
        run(*install, "--no-deps", "--no-build-isolation", "--editable", str(ROOT), check=True)


DEVELOPMENT = Environment(".venv", "requirements.lock")
BENCH = Environment(".venv-bench", "bench.lock")
SPARK_LOCK = "spark.lock"

# Compiled files are kept, whatever the machine says: workers, and commands that tests start, would each compile anew.
KEPT = {"PYTHONDONTWRITEBYTECODE": ""}


def run(*command: str, check: bool = False, variables: "dict[str, str] | None" = None) -> int:
    """Run a command in the repository's root and hand back its exit code; with check, end if it fails."""
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **KEPT, **(variables or {})}) as process:
        while process.returncode is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                # The terminal has told the command as well: let it finish in its own way.
                continue
    # A command ended by a signal has a negative code; shells count those from 128.
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    if check and code:
        sys.exit(code)
    return code


def run_all(*commands: list[str], variables: "dict[str, str] | None" = None) -> int:
    """Run commands from the development environment in order, up to the first that fails."""
    DEVELOPMENT.ensure()
    for name, *arguments in commands:
        print("$", name, *arguments, flush=True)
        code = run(DEVELOPMENT.program(name), *arguments, variables=variables)
        if code:
            return code
    return 0


# One more than there are cores: tests wait for browsers, for workers, and for signals to arrive.
WORKERS = str((os.cpu_count() or 1) + 1)
LINT = (["ruff", "check"], ["ruff", "format", "--check"])
TYPES = (["mypy"],)


def setup(*_: str) -> int:
    """Make .venv, or bring it up to date."""
    DEVELOPMENT.ensure()
    return 0


def demo(*arguments: str) -> int:
    """Compare classifiers on the data that ships with the package, and write a page of it."""
    return run_all(["steelyard", "demo", *(arguments or ("--html", "steelyard-report.html"))])


def test(*arguments: str) -> int:
    """Run lint, types and tests; with arguments, pytest alone with those."""
    tests = ["pytest", "-n", WORKERS, *arguments]
    if arguments:
        return run_all(tests)
    code = run_all(*LINT)
    if code:
        return code
    # mypy uses one core, and so do the last tests: side by side they take less time.
    with subprocess.Popen([DEVELOPMENT.program("mypy")], cwd=ROOT, stdout=subprocess.PIPE, text=True) as types_process:
        code = run_all(tests)
        print("$ mypy", flush=True)
        print(types_process.communicate()[0], end="", flush=True)
    return code or types_process.returncode


def study(*arguments: str) -> int:
    """Run what simulates, and every search and comparison that repeats, at full size (an hour and more)."""
    return run_all(["pytest", "-n", "auto", "-m", "slow or study", *arguments], variables={"STEELYARD_STUDY": "full"})


def hostile(*arguments: str) -> int:
    """Run all hostile problems, files, tallies and interruptions; make test runs a twentieth of them."""
    return run_all(["pytest", "-n", WORKERS, "tests/hostile", *arguments], variables={"STEELYARD_HOSTILE": "full"})


def pins(*arguments: str) -> int:
    """Check all pinned behaviour, which is listed where it differs; make test checks a part of it."""
    return run_all(["python", "-m", "tests.pins", *(arguments or ("--check",))])


def spark(*arguments: str) -> int:
    """Run the tests of the engine on Spark, which is large and is installed for them; they need Java."""
    DEVELOPMENT.ensure()
    run(*DEVELOPMENT.installer(), "--require-hashes", "-r", str(ROOT / SPARK_LOCK), check=True)
    return run_all(["pytest", "tests/data/engines/test_spark.py", *arguments])


def lint(*arguments: str) -> int:
    """Check ruff's rules and its formatting."""
    return run_all(*([*command, *arguments] for command in LINT))


def types(*arguments: str) -> int:
    """Check the types with mypy, strict."""
    return run_all(*([*command, *arguments] for command in TYPES))


def docs(*arguments: str) -> int:
    """Build the documentation into site/."""
    generator = Path("docs", "generate.py")
    generate = (["python", str(generator)],) if (ROOT / generator).exists() else ()
    return run_all(*generate, ["zensical", "build", "--clean", "--strict", *arguments])


def bench(*arguments: str) -> int:
    """Measure speed side by side with other libraries, in .venv-bench."""
    BENCH.ensure()
    return run(BENCH.program("python"), "-m", "bench", *arguments)


def lock(*arguments: str) -> int:
    """Write all locks anew (needs uv); --upgrade takes the newest versions."""
    uv = shutil.which("uv")
    if uv is None:
        sys.exit("The locks are written by uv, which is not on the PATH: pip install uv")
    # 3.11 is the oldest Python the locks must serve; --universal covers all later ones and every system.
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate"]
    compile_lock = [uv, "pip", "compile", "pyproject.toml", "--quiet", *options, *arguments]
    for group, environment in (("dev", DEVELOPMENT), ("bench", BENCH)):
        run(*compile_lock, "--group", group, "--output-file", environment.lock.name, check=True)
    alone = [part for part in compile_lock if part != "pyproject.toml"]
    return run(*alone, "--group", "spark", "--output-file", SPARK_LOCK, check=True)


def clean(*_: str) -> int:
    """Remove all that these commands made, environments included."""
    for name in MADE_HERE:
        shutil.rmtree(ROOT / name, ignore_errors=True)
    for page in ROOT.glob("steelyard-report*"):
        page.unlink()
    for cache in [*ROOT.rglob("__pycache__")]:
        shutil.rmtree(cache, ignore_errors=True)
    return 0


EVERY = (setup, demo, test, study, hostile, pins, spark, lint, types, docs, bench, lock, clean)
COMMANDS = {command.__name__: command for command in EVERY}


def main(command: str = "help", *arguments: str) -> int:
    """Run one command, or list them all."""
    if command in COMMANDS:
        return COMMANDS[command](*arguments)
    print("python3 dev.py COMMAND [arguments]\n")
    for name, function in COMMANDS.items():
        print(f"  {name:9}{function.__doc__}")
    return 0 if command in {"help", "--help", "-h"} else 2


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
