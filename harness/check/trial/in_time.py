"""What can be begun before time is over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TypeVar

from opproof.harness.clock import Allowed

_T = TypeVar("_T")


def begun_in(seconds: float, some: Iterable[_T]) -> Iterator[_T]:
    """Those that are begun in so many seconds from now."""
    allowed = Allowed(seconds)
    return takewhile(lambda _: not allowed.over, some)
