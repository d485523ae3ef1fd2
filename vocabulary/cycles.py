"""Python's collector of cycles, which looks through all that a process keeps, again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected(*, kept: bool = False) -> Iterator[None]:
    """Without the collector, for what makes much that stays and few cycles.

    What the process has at the end, where that is `kept` as long as the process is, is never looked through again.
    Whoever runs meanwhile may switch the collector off for good: only its thresholds are touched.
    """
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        yield
    finally:
        if kept:
            gc.freeze()
        if gc.get_threshold()[0] == 0:
            gc.set_threshold(*before)
