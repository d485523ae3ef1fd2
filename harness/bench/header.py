"""Where and when a bench was made."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence

import numpy as np

from opproof.harness import __version__
from opproof.reports.bench.record import Bench, Roofline, Time


def bench_of(roofline: Roofline, times: Sequence[Time]) -> Bench:
    """The record of a bench that ends now."""
    host = {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpus": str(os.cpu_count()),
    }
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Bench(__version__, now, host, roofline, tuple(times))
