"""Tensors between memory that nobody may touch: what a call writes beside them shows, and what it reads there too.

Every tensor that the call is given lies so, and every one that PyTorch makes for it in the call. Around it are bytes
that are no number, which nothing may change; where pages can be closed, the page next to it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from opproof.backends.worker.memory import PAGE, Arena
from opproof.harness.reference.torch.intercept import with_intercepted_operations

#: What lies around: NaN in floats of any size, -1 in integers.
_FILL_BYTE = 0xFF
#: Both ends of what is asked for are multiples of it, as of PyTorch's own memory: who reads whole lines of cache may.
_LINE_BYTES = 64
#: Bytes of one call that are fenced; tensors beyond stay where they are.
_MAX_FENCED_BYTES = 1 << 28


class Fence(StrEnum):
    """What is next to a tensor."""

    NONE = ""
    BYTES = "bytes"  # on both sides, which must stay as they are
    AFTER = "past the end of"  # a page that ends the process which touches it; bytes on the other side
    BEFORE = "before"


@dataclass(frozen=True)
class _Plot:
    """The memory of one tensor: its bytes from `start` to `end` of a mapping, of which those of `open` can be read."""

    what: str
    memory: Any
    start: int
    end: int
    open: tuple[int, int]

    def describe_trespass(self) -> str:
        """What was written beside it, in words; empty where nothing was."""
        low, high = self.open
        for where, part in (
            ("before", self.memory[low : self.start]),
            ("past the end of", self.memory[self.end : high]),
        ):
            count = int((part != _FILL_BYTE).sum())
            if count:
                return f"{count} bytes {where} {self.what} were written"
        return ""


@dataclass
class Fences:
    """The plots of one call."""

    fence: Fence
    plots: list[_Plot] = field(default_factory=list)
    held: int = 0  # bytes of tensors within all of them

    def around(self, torch: Any, tensor: Any, what: str, *, written: bool = True) -> Any:
        """A tensor of the same values in memory of its own, fenced; the tensor itself where there is none to fence.

        `written`: whether it holds values.
        """
        size = _bytes_of(torch, tensor)
        if self.fence is Fence.NONE or not 0 < size <= _MAX_FENCED_BYTES - self.held:
            return tensor
        room = -(-size // PAGE) * PAGE
        last = PAGE + room  # the last page begins there
        closed = {Fence.AFTER: (last, last + PAGE), Fence.BEFORE: (0, PAGE)}.get(self.fence)
        low, high = PAGE if self.fence is Fence.BEFORE else 0, last if self.fence is Fence.AFTER else last + PAGE
        start = PAGE if self.fence is Fence.BEFORE else PAGE + (room - size) // _LINE_BYTES * _LINE_BYTES
        arena = Arena()
        arena.grow(last + PAGE)
        arena.memory[:] = _FILL_BYTE
        self.held += size
        self.plots.append(_Plot(what, arena.memory, start, start + size, (low, high)))
        made = torch.frombuffer(arena.memory, dtype=tensor.dtype, count=size // tensor.element_size(), offset=start)
        made = made.as_strided(tensor.shape, tensor.stride())
        if written:
            made.copy_(tensor)
        arena.guard([] if closed is None else [closed])
        return made

    def describe_trespass(self) -> str:
        """What was written beside a tensor, in words; empty where nothing was."""
        return next(filter(None, (p.describe_trespass() for p in self.plots)), "")


@contextlib.contextmanager
def fenced(torch: Any, fences: Fences) -> Iterator[None]:
    """A block in which what PyTorch makes for this thread lies so too."""
    if fences.fence is Fence.NONE:
        yield
        return

    def answered(_: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        made = func(*args, **kwargs)
        schema = getattr(func, "_schema", None)  # the one place that says what is an alias
        if schema is None or not isinstance(made, torch.Tensor | tuple):
            return made
        if any(r.alias_info is not None for r in schema.returns):
            return made
        given = {a.untyped_storage().data_ptr() for a in _walk_tensors(torch, (*args, *kwargs.values()))}
        if isinstance(made, tuple):
            return tuple(_move_to_own_memory(torch, fences, y, schema.name, given) for y in made)
        return _move_to_own_memory(torch, fences, made, schema.name, given)

    with with_intercepted_operations(answered):
        yield


def _walk_tensors(torch: Any, values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _walk_tensors(torch, value)
        elif isinstance(value, torch.Tensor) and value.layout == torch.strided:
            yield value


def _move_to_own_memory(torch: Any, fences: Fences, made: Any, name: str, given: set[int]) -> Any:
    """What an operation returned, in memory of its own unless it is part of what was given."""
    if type(made) is not torch.Tensor or made.layout != torch.strided or made.untyped_storage().data_ptr() in given:
        return made
    what = f"a tensor {tuple(made.shape)} that {name} made"
    return fences.around(torch, made, what, written="empty" not in name)


def _bytes_of(torch: Any, tensor: Any) -> int:
    """Of a tensor whose elements lie side by side in the memory of the processor; 0 of others."""
    if type(tensor) is not torch.Tensor or tensor.device.type != "cpu" or tensor.layout != torch.strided:
        return 0
    if tensor.is_quantized or tensor.is_conj() or tensor.is_neg():
        return 0
    extent = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    return int(tensor.numel() * tensor.element_size()) if tensor.numel() == extent else 0
