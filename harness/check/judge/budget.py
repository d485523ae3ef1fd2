"""What there is time for: how long a variant will take, and what a call costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from opproof.harness.check.call.exchange import CallRequest
from opproof.harness.check.tensors import CallTensor
from opproof.harness.clock import Allowed
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.harness.reference.torch.intercept import with_intercepted_operations


def measure_cost(side: Callable[[CallRequest], Any], request: CallRequest) -> tuple[int, int]:
    """Elements of every tensor that an operation gives, views too, which may be of all pairs; and operations."""
    elements, calls = 0, 0

    def counted(_: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        nonlocal elements, calls
        y = func(*args, **kwargs)
        some = y if isinstance(y, tuple | list) else (y,)
        elements, calls = elements + sum(t.numel() for t in some if hasattr(t, "numel")), calls + 1
        return y

    with with_intercepted_operations(counted):
        side(request)
    return elements, calls


#: Elements that take as long to judge as a call without any.
_CALL_ELEMENTS = 1 << 14


@dataclass
class Pace:
    """Seconds by work: of the last variant, and the most of those that are larger than what was `given`."""

    given: Sequence[CallTensor]
    last: float = 0.0
    larger: float = 0.0

    def seconds(self, asked: Sequence[CallTensor]) -> float:
        """That a variant with these tensors will take."""
        return max(self.last, self.larger) * self.work_of(asked)

    def record_seconds(self, asked: Sequence[CallTensor], seconds: float) -> None:
        """Learn from one that has been tried."""
        self.last = seconds / self.work_of(asked)
        if self.work_of(asked) > 2 * self.work_of(self.given):
            self.larger = max(self.larger, self.last)

    def growth_of(self, asked: Sequence[CallTensor]) -> float:
        """How many times the work of what was given these are."""
        return self.work_of(asked) / self.work_of(self.given)

    def work_of(self, asked: Sequence[CallTensor]) -> float:
        """By what time grows: a call, all elements, and the root of the longest axis, whose places may be steps."""
        pairs = [
            (n, m) for a, b in zip(self.given, asked, strict=False) for n, m in zip(a.shape, b.shape, strict=False)
        ]
        growth = max((m / n for n, m in pairs if n), default=1.0)
        return float((_CALL_ELEMENTS + sum(t.values.size for t in asked)) * math.sqrt(max(growth, 1.0)))


_T = TypeVar("_T")


def take_in_time(seconds: float, some: Iterable[_T]) -> Iterator[_T]:
    """Those that are begun in so many seconds from now."""
    allowed = Allowed(seconds)
    return takewhile(lambda _: not allowed.over, some)


def take_until_refused(some: Iterable[_T]) -> Iterator[_T]:
    """Those before the first for which there is no time."""
    try:
        yield from some
    except OutOfTime:
        return
