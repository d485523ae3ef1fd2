"""An earlier call, with other numbers in the memory of the tensors that are given next: what was kept of it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from opproof.harness.check.sides.company import with_other_numbers
from opproof.harness.check.sides.settings import Setting


def _in_their_memory(torch: Any, call: Callable[[Sequence[Any]], Any], tensors: Sequence[Any]) -> bool:
    """A call with the tensors themselves, written in place before it and after it.

    What it raises of other numbers is no matter: nobody said that it takes them.
    """
    with overwritten(torch, tensors, with_other_numbers), suppress(Exception):
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


def _alike(torch: Any, call: Callable[[Sequence[Any]], Any], tensors: Sequence[Any]) -> bool:
    """The same call."""
    del torch
    call(tensors)
    return True


#: By the setting in which a call comes right after it; False where nothing would follow from that.
EARLIER = {Setting.REWRITTEN: _in_their_memory, Setting.RENEWED: _at_their_addresses, Setting.AGAIN: _alike}


@contextmanager
def overwritten(torch: Any, tensors: Sequence[Any], other: Callable[[Any], Any]) -> Iterator[None]:
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
