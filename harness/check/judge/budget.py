"""What there is time for: how long a variant will take, and how long an axis both sides can bear."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from opproof.harness.check.call.exchange import CallRequest
from opproof.harness.check.call.reference import CallFn, Native
from opproof.harness.check.call.reference_reply import ask_reference
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.tensors import CallTensor
from opproof.harness.check.variants.variant import Variant
from opproof.harness.clock import Allowed
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.harness.reference.torch.intercept import with_intercepted_operations

#: Lengths at which it is measured, each twice the one before, and no whole tiles.
_MEASURED_LENGTHS = (515, 1030, 2060)
#: Elements that a reference makes in all, and operations of it: its truth has them some thirty times.
_MAX_REFERENCE_ELEMENTS = 1 << 25
_MAX_REFERENCE_CALLS = 4000
#: Seconds of a call of each, in which others are not at work too, and in which they may be.
_MAX_REFERENCE_SECONDS = 0.5
_MAX_CANDIDATE_SECONDS = 10.0
_MAX_CANDIDATE_SHARE = 0.5  # of the seconds of a check
#: Added to the power of the length that two times show, which is between 1 and 2.
_POWER_MARGIN = 0.3


def can_bear(
    reference: Native, ask: CallFn, wish: CheckOptions, at: Callable[[int], Variant | None], length: int
) -> bool:
    """Whether both can be asked at `length`: by what `at` has at shorter ones; no where one of them refuses these."""
    requests = list[CallRequest]()
    for m in _MEASURED_LENGTHS:
        variant = at(m)
        given = wish.seed, wish.gradients, variant.rest if variant else None, wish.contract.grads
        asked = variant and ask_reference(reference, variant.case_data, *given)
        if not asked or isinstance(asked, str):
            return False
        requests.append(asked.request)
    costs = [measure_cost(reference.call_native, request) for request in requests]
    elements, calls = (_at(counts, length) for counts in zip(*costs, strict=True))
    if elements > _MAX_REFERENCE_ELEMENTS or calls > _MAX_REFERENCE_CALLS:
        return False
    native = [_time_calls(reference.call_native, request, time.process_time) for request in requests[1:]]
    other = [_time_calls(ask, request, time.perf_counter) for request in requests[1:]]
    most = min(_MAX_CANDIDATE_SECONDS, _MAX_CANDIDATE_SHARE * wish.seconds)
    return _time_at(native, length) <= _MAX_REFERENCE_SECONDS and _time_at(other, length) <= most


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


def _at(counts: Sequence[int], length: int) -> float:
    """A count at `length`, by the parabola through three, each at twice the length of the one before."""
    one, two, four = counts
    square = (four - 3 * two + 2 * one) / 6
    line = two - one - 3 * square
    times = length / _MEASURED_LENGTHS[0]
    return one - line - square + line * times + square * times**2


def _time_calls(side: Callable[[CallRequest], Any], request: CallRequest, clock: Callable[[], float]) -> float:
    """The least of a few calls: others are at work too."""
    times = list[float]()
    for _ in range(3):
        begun = clock()
        side(request)
        times.append(clock() - begun)
    return min(times)


def _time_at(seconds: Sequence[float], length: int) -> float:
    """Seconds at `length`, by those at half of the longest that was tried, and at this; by their power, and more."""
    half, last = seconds
    power = math.log2(max(last / half, 1.0)) + _POWER_MARGIN
    grown: float = (length / _MEASURED_LENGTHS[-1]) ** min(max(power, 1.0), 2.0)
    return last * grown


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
