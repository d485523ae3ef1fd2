"""How many cores there are for this process: as many judges run by default, and blocks of a large case at once."""

from __future__ import annotations

import os


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    count = os.cpu_count()
    return 1 if count is None else count
