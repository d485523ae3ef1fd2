"""Several blocks evaluated at once, on the cores that there are; what comes of them is handed on in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from opproof.core.system import cores
from opproof.harness.truth.quiet import quiet

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

#: Evaluations at once; there is room for two (room.py). NumPy computes outside the interpreter's lock.
AT_ONCE = 2


def in_turn(make: Callable[[_Given], _Made], items: Iterable[_Given]) -> Iterator[tuple[_Given, _Made]]:
    """Every item with what `make` makes of it, never more than two in the making or waiting."""
    if cores() == 1:
        yield from ((item, make(item)) for item in items)
        return
    waiting: deque[tuple[_Given, Future[_Made]]] = deque()
    with quiet(), ThreadPoolExecutor(AT_ONCE) as pool:  # quiet: threads that end in turn leave each other's filters
        for item in items:
            if len(waiting) == AT_ONCE:
                earlier, made = waiting.popleft()
                yield earlier, made.result()
            waiting.append((item, pool.submit(make, item)))
        while waiting:
            earlier, made = waiting.popleft()
            yield earlier, made.result()
