"""Run in a process of its own: assess once, and print the peak memory before and after, and the seconds."""

from __future__ import annotations

import resource
import sys
import time
from contextlib import suppress
from pathlib import Path

from .contestants import assess_arrays, assess_memberships
from .samples import Sample


def peak_megabytes() -> float:
    """The most resident memory that this process ever had."""
    with suppress(OSError):  # Linux tells it without the memory of whoever started the process
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def forget_peak() -> None:
    """Let the peak be counted anew from here, where Linux does: making a sample takes more memory than it holds."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def main(rows: int, classes: int, memberships: bool) -> None:
    """Assess one sample of labels or of memberships."""
    contestant = assess_memberships if memberships else assess_arrays
    contestant(Sample(100, 2))()  # the imports that come with the first call
    call = contestant(Sample(rows, classes))
    forget_peak()
    before, start = peak_megabytes(), time.perf_counter()
    call()
    print(before, peak_megabytes(), time.perf_counter() - start)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "memberships")
