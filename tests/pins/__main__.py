"""Check the pins, or make them again: ``python -m tests.pins --check``, ``python -m tests.pins --write``."""

from __future__ import annotations

import argparse
import sys
import time

from .checking import KINDS, checked, made, of_kind, ways_of
from .comparing import differences, sorted_out
from .intended import INTENDED
from .storing import Pins, path_of, read, write
from .tallies import KIND, given_by_all, write_tallies


def main() -> int:
    """Run the command and return its exit code: 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.pins", description=__doc__)
    parser.add_argument("--check", action="store_true", help="list what differs from the pins (the default)")
    parser.add_argument("--write", action="store_true", help="make the pins again")
    parser.add_argument("--tallies", action="store_true", help="with --write: make the saved tallies again, too")
    parser.add_argument("--part", action="store_true", help="check the part that make test checks")
    parser.add_argument("--most", type=int, default=200, help="how many differences to list")
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"some of {', '.join(KINDS)}; all by default")
    given = parser.parse_args()
    kinds, start = given.kinds or KINDS, time.process_time()
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    if given.write:
        for kind in kinds:
            pins: Pins = {}
            for problem in of_kind(kind):
                for way in ways_of(problem):
                    pins |= made(problem, way)
            written = "written" if write(kind, pins) else "unchanged"
            print(f"{kind}: {len(pins):,} rows, {path_of(kind).stat().st_size:,} bytes, {written}", flush=True)
        if given.tallies:
            write_tallies()
        if not given.kinds:
            print(f"{KIND}: {'written' if write(KIND, given_by_all()) else 'unchanged'}")
        return 0
    found = [each for kind in kinds for each in checked(kind, full=not given.part)]
    found += [] if given.kinds else differences(read(KIND), given_by_all())
    left, matched = sorted_out(found, INTENDED)
    for each in left[: given.most]:
        print(each)
    if len(left) > given.most:
        print(f"and {len(left) - given.most:,} more")
    for pattern, count in matched.items():
        print(f"intended: {count:,} differences match {pattern}")
    print(f"{len(left):,} differences; {time.process_time() - start:.0f} s of processor time")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
