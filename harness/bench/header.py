"""Where and when a bench was made."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from opproof.core.system import host
from opproof.harness import __version__
from opproof.reports.bench.record import Bench, Roofline, Time


def bench_of(roofline: Roofline, times: Sequence[Time]) -> Bench:
    """The record of a bench that ends now."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Bench(__version__, now, host(), roofline, tuple(times))
