"""Many calls, of which one may give others than the rest: beside another thread's, or where their own threads meet.

A workspace that all calls share is then of two calls, and a sum that all threads share loses terms.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, TypeAlias

from opproof.harness.check.sides.exchange import Request
from opproof.harness.check.sides.leaves import flat
from opproof.harness.check.tensors import to_torch
from opproof.harness.clock import Allowed

#: Seconds after which Python turns to the other thread, so that two calls lie within one another.
_TURN = 1e-5
#: Seconds of calls among which one is looked for.
_SECONDS = 0.05
#: A difference, as a share of the largest number, that no other order of a sum leaves: further ones need no search.
_FAR = 0.01


#: What a call gave: outputs, and gradients or None of each input.
Made: TypeAlias = tuple[list[Any], list[Any]]


def odd_one(once: Callable[[], Made], others: Callable[[], object] | None) -> Made:
    """The tensors of the call of many that is furthest from a call alone, as sums in another order are not far.

    `others`: what another thread calls meanwhile, once the call alone is over.
    """
    alone = once()
    with contextlib.nullcontext() if others is None else _again_and_again(others):
        allowed = Allowed(_SECONDS)
        odd, distance = alone, 0.0
        while distance < _FAR and not allowed.over:
            made = once()
            if (off := _distance(made, alone)) > distance:
                odd, distance = made, off
    return odd


def _distance(made: Made, alone: Made) -> float:
    """The largest difference, as a share of the largest number of its tensor; inf of numbers and none."""
    return max(map(_off, chain(*made), chain(*alone)), default=0.0)


def _off(a: Any, b: Any) -> float:
    if a is b or (a is not None and b is not None and a.equal(b)):
        return 0.0
    if a is None or b is None or a.shape != b.shape or not a.is_floating_point():
        return math.inf
    off, most = (a - b).abs().max().item(), b.abs().max().item()
    return off / most if most and math.isfinite(off / most) else math.inf


def with_other_numbers(tensor: Any) -> Any:
    """The same numbers in another order, in memory of their own."""
    other = tensor.detach().flip(0) if tensor.dim() and tensor.is_floating_point() else tensor.detach().clone()
    return other.requires_grad_(tensor.requires_grad)


def of_others(call: Callable[[Sequence[Any]], Any], request: Request) -> Callable[[], object]:
    """The same call, and its backward where gradients are asked for, with other numbers in tensors of its own."""
    import torch

    tensors = [with_other_numbers(to_torch(torch, t, request.device)) for t in request.tensors]
    wanted = [t.requires_grad_() for t, n in zip(tensors, request.needs, strict=False) if n]

    def called() -> None:
        ys = [y for y in flat(call(tensors)) if y.requires_grad]
        if ys and wanted:
            torch.autograd.grad(ys, wanted, [torch.ones_like(y) for y in ys], allow_unused=True)

    return called


@contextlib.contextmanager
def _again_and_again(call: Callable[[], object]) -> Iterator[None]:
    """A block during which another thread makes a call again and again, the first of them before the block begins.

    What it raises ends that thread, and is nothing to the block.
    """
    begun, over = threading.Event(), threading.Event()

    def again() -> None:
        try:
            while not over.is_set():
                call()
                begun.set()
        finally:
            begun.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(again)
        begun.wait()
        try:
            yield
        finally:
            over.set()
            sys.setswitchinterval(before)
