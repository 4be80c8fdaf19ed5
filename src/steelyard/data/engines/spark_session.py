"""Sessions of Spark: given, running, or started on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.errors import BadOption, quoted
from .engine import Engine, extra, make
from .spark import Spark

PYTHON = "PYSPARK_PYTHON"
FAILURES = 4  # how often a task may lose its worker, as on a cluster; on one machine Spark forgives none


def started(engine: Any = None, source: Any = None) -> Engine:
    """The session that is given or that runs; else one on this machine, for as long as this process runs."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise extra("spark", error) from None
    if make(source) == "spark":
        return Spark(source.sparkSession)
    running = SparkSession.getActiveSession() if isinstance(engine, str) else engine
    if running is not None:
        return Spark(running)
    builder: Any = SparkSession.builder.appName("steelyard")
    if not {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER"} & set(os.environ):
        builder = builder.config("spark.master", f"local[*,{FAILURES}]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    try:
        with _same_python():
            return Spark(builder.getOrCreate())
    except (PySparkException, OSError) as error:
        raise BadOption(
            "Spark cannot be started", mend=f"It needs Java: see that it is on the PATH ({quoted(str(error), 200)})"
        ) from None


@contextmanager
def _same_python() -> Iterator[None]:
    """Workers of this machine run this Python, unless somebody named another; Spark asks when it starts."""
    before = os.environ.get(PYTHON)
    os.environ[PYTHON] = before or sys.executable
    try:
        yield
    finally:
        if before is None:
            del os.environ[PYTHON]
