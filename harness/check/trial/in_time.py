"""What can be begun before time is over."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TypeVar

_T = TypeVar("_T")


def begun_in(seconds: float, some: Iterable[_T]) -> Iterator[_T]:
    """Those that are begun in so many seconds from now."""
    end = time.monotonic() + seconds
    return takewhile(lambda _: time.monotonic() < end, some)
