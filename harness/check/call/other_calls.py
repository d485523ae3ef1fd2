"""Calls beside, before and after the judged one, by which a kernel that keeps what is not its own is found out."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from opproof.harness.check.call.exchange import CallRequest, Setting
from opproof.harness.check.tensors import as_array, flatten_outputs, to_torch
from opproof.harness.clock import Allowed

#: Seconds after which Python turns to the other thread, so that two calls lie within one another.
_SWITCH_SECONDS = 1e-5
#: Seconds of calls among which one is looked for.
_SEARCH_SECONDS = 0.05
#: A difference, as a share of the largest number, that no other order of a sum leaves: further ones need no search.
_FAR_DISTANCE = 0.01


#: What a call gave: outputs, and gradients or None of each input.
Made: TypeAlias = tuple[list[Any], list[Any]]


def find_outlier_call(once: Callable[[], Made], others: Callable[[], object] | None) -> Made:
    """The tensors of the call of many that is furthest from a call alone, as sums in another order are not far.

    `others`: what another thread calls meanwhile, once the call alone is over.
    """
    alone = once()
    with contextlib.nullcontext() if others is None else _repeated_calls(others):
        allowed = Allowed(_SEARCH_SECONDS)
        odd, distance = alone, 0.0
        while distance < _FAR_DISTANCE and not allowed.over:
            made = once()
            if (off := max(map(_off, chain(*made), chain(*alone)), default=0.0)) > distance:
                odd, distance = made, off
    return odd


def _off(a: Any, b: Any) -> float:
    """The largest difference, as a share of the largest number; inf of numbers and none."""
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


def of_others(call: Callable[[Sequence[Any]], Any], request: CallRequest) -> Callable[[], object]:
    """The same call, and its backward where gradients are asked for, with other numbers in tensors of its own."""
    import torch

    tensors = [with_other_numbers(to_torch(torch, t, request.device)) for t in request.tensors]
    wanted = [t.requires_grad_() for t, n in zip(tensors, request.needs, strict=False) if n]

    def called() -> None:
        ys = [y for y in flatten_outputs(call(tensors)) if y.requires_grad]
        if ys and wanted:
            torch.autograd.grad(ys, wanted, [torch.ones_like(y) for y in ys], allow_unused=True)

    return called


@contextlib.contextmanager
def _repeated_calls(call: Callable[[], object]) -> Iterator[None]:
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
    sys.setswitchinterval(_SWITCH_SECONDS)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(again)
        begun.wait()
        try:
            yield
        finally:
            over.set()
            sys.setswitchinterval(before)


def _in_their_memory(torch: Any, call: Callable[[Sequence[Any]], Any], tensors: Sequence[Any]) -> bool:
    """A call with the tensors themselves, written in place before it and after it.

    What it raises of other numbers is no matter: nobody said that it takes them.
    """
    with replaced_contents(torch, tensors, with_other_numbers), suppress(Exception):
        call(tensors)
    return True


def _at_their_addresses(torch: Any, call: Callable[[Sequence[Any]], Any], tensors: Sequence[Any]) -> bool:
    """A call with other tensors at the addresses of these, which have been written as often.

    What is freed goes to the next who asks for as much: who keeps by address and version takes that for the same. Who
    holds what it was given has its memory to itself, and nothing follows: False.
    """
    lying = [(t, _at_the_address(torch, t)) for t in tensors]
    own = [(place, place.clone()) for _, place in lying if place is not None]
    others = [t if place is None else _with_others_in_place(torch, t) for t, place in lying]
    new = [other for other, (_, place) in zip(others, lying, strict=True) if place is not None]
    storages = [other.untyped_storage()._weak_ref() for other in new]  # noqa: SLF001
    with suppress(Exception):
        call(others)
    del others, new
    is_held = [not torch.UntypedStorage._expired(storage) for storage in storages]  # noqa: SLF001
    for storage in storages:
        torch.UntypedStorage._free_weak_ref(storage)  # noqa: SLF001 - PyTorch's own queues between processes do it so
    for place, values in own:
        place.copy_(values)
    return bool(storages) and not any(is_held)


def _call_alike(torch: Any, call: Callable[[Sequence[Any]], Any], tensors: Sequence[Any]) -> bool:
    del torch
    call(tensors)
    return True


#: By the setting in which a call comes right after it; False where nothing would follow from that.
EARLIER = {Setting.REWRITTEN: _in_their_memory, Setting.RENEWED: _at_their_addresses, Setting.AGAIN: _call_alike}


@contextmanager
def replaced_contents(torch: Any, tensors: Sequence[Any], other: Callable[[Any], Any]) -> Iterator[None]:
    """A block in which these tensors hold other numbers, those that are floats."""
    own = [t.detach().clone() for t in tensors]
    with torch.no_grad():
        for t in tensors:
            t.copy_(other(t) if t.is_floating_point() else t)
    try:
        yield
    finally:
        with torch.no_grad():
            for t, values in zip(tensors, own, strict=True):
                t.copy_(values)


def _at_the_address(torch: Any, tensor: Any) -> Any:
    """Another tensor where this one lies; None where there can be none, as of formats that others do not know."""
    if tensor.layout != torch.strided or 0 in tensor.stride():
        return None
    try:
        return torch.from_dlpack(tensor.detach())
    except (BufferError, RuntimeError, TypeError):
        return None


def _with_others_in_place(torch: Any, tensor: Any) -> Any:
    """Another tensor where this one lies, with other numbers and the same version."""
    values, other = with_other_numbers(tensor).detach(), _at_the_address(torch, tensor)
    other.data.copy_(values)
    for _ in range(tensor._version):  # noqa: SLF001 - it has no other name
        other.copy_(values)
    return other.requires_grad_(tensor.requires_grad)


#: Outputs of so many calls are held, unless they have more numbers together: then those of the last.
HELD_CALLS = 8
_MAX_HELD_NUMBERS = 1 << 17
#: Those of every 16th call are held for so many of these, and looked at as seldom: a ring of buffers may have hundreds.
_CALLS_PER_OLD_OUTPUT = 16
_MAX_OLD_OUTPUTS = 36


class Output(NamedTuple):
    """One result of a call: its place among the results, the tensor itself, and a copy of what that held."""

    place: int
    tensor: Any
    held: Any


@dataclass
class ReusedBuffers:
    """The memory of its inputs, which it fills anew, and the outputs of the last calls."""

    inputs: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    outputs: list[list[Output]] = field(default_factory=list)
    older: list[list[Output]] = field(default_factory=list)
    calls: int = 0

    def refill_tensor(self, place: int, made: Any, *, unseen: bool = False) -> Any:
        """The tensor that was at this place in the call before, filled with `made`, where that fits; else `made`.

        An optimiser fills weights so: who keeps results by the tensor, and not by its version, keeps old ones.
        `unseen`: through `.data`, as many do, which leaves the version as it was.
        """
        key = (place, made.dtype, tuple(made.shape), made.stride(), made.storage_offset())
        own = self.inputs.get(key)
        if own is None or 0 in made.stride():
            self.inputs = {k: v for k, v in self.inputs.items() if k[0] != place} | {key: made}
            return made
        if not own.is_leaf:  # the call before updated it in place
            own = self.inputs[key] = own.detach()
        own.requires_grad_(False)
        if own.is_meta or not _has_same_numbers(own, made):  # a version stays where values do
            (own.data if unseen else own).copy_(made)
        return own

    def find_overwritten(self, results: Sequence[Any], inputs: Sequence[Any]) -> int:
        """The first result of a call before that no longer holds what it held, by its place; -1 for none.

        `results`, outputs and then gradients, None where there is none, are the last then.
        """
        self.calls += 1
        is_looked_back = self.calls % _CALLS_PER_OLD_OUTPUT == 0
        found = _find_changed([*self.outputs, *(self.older if is_looked_back else [])])
        places = {t.untyped_storage().data_ptr() for t in inputs}
        some = [(i, y) for i, y in enumerate(results) if y is not None and y.layout == inputs[0].layout]
        own = [(i, y.detach()) for i, y in some if y.untyped_storage().data_ptr() not in places]
        self.outputs = [
            *([] if found >= 0 else self.outputs[1 - HELD_CALLS :]),
            [Output(i, y, y.clone()) for i, y in own],
        ]
        while len(self.outputs) > 1 and _count(self.outputs) > _MAX_HELD_NUMBERS:
            del self.outputs[0]
        if is_looked_back and len(self.outputs[-1]) > 0:
            self.older = [*([] if found >= 0 else self.older[1 - _MAX_OLD_OUTPUTS :]), self.outputs[-1]]
            while _count(self.older) > _MAX_HELD_NUMBERS:
                del self.older[0]
        return found


def _find_changed(calls: Sequence[Sequence[Output]]) -> int:
    """The place of the first output that no longer holds what it held; -1 for none."""
    return next((one.place for call in calls for one in call if not _holds(one)), -1)


def _count(calls: Sequence[Sequence[Output]]) -> int:
    """How many numbers these calls gave."""
    return sum(one.held.numel() for call in calls for one in call)


def _has_same_numbers(a: Any, b: Any) -> bool:
    """Whether two tensors hold the same numbers, zeros of the same sign too: what is written in place may be -0."""
    if not a.equal(b):
        return False
    return not a.is_floating_point() or bool(a.float().signbit().equal(b.float().signbit()))


def _holds(output: Output) -> bool:
    """Whether the tensor's numbers are those of the copy; what is no number is so too."""
    if output.held.element_size() > 1 and output.tensor.equal(output.held):  # not of every dtype of 8 bits
        return True
    now, then = as_array(output.tensor)[0], as_array(output.held)[0]
    return np.array_equal(now, then, equal_nan=then.dtype.kind == "f")
