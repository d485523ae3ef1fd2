"""How a sample of OpInfo is read as a call of an operator of ours: by its arguments' names, or by a small function.

A function of `_table.py` has PyTorch's own signature and gives a `Reading`; it raises `NotExpressed` where the operator
cannot say what the arguments say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from _oracle import NotExpressed, Reader, Reading
from torch.overrides import TorchFunctionMode

from opproof.harness.capture.arguments import Call, calls
from opproof.reference_ops import load

#: Arguments of PyTorch's that change no value: how it computes, where the result lies, what it checks.
WITHOUT_EFFECT = frozenset(
    {"compute_mode", "inplace", "memory_format", "sorted", "stable", "check_errors", "layout", "device", "pin_memory",
     "dtype", "sparse", "copy", "input_precision", "requires_grad", "size_average", "reduce"}
)  # fmt: skip


def by_name(operator: str, outputs: Callable[[Any], tuple[Any, ...]] | None = None) -> Reader:
    """A reader as `opproof capture` reads calls: arguments by their names, tensors by their order."""

    def read(function: Any, sample: Any, result: Any) -> Reading:
        del result
        op = load(operator)
        numbers = [sample.input, *sample.args[:1]]
        unless(all(isinstance(v, int | float) for v in numbers) and len(numbers) == 2, "two numbers")
        called, args, kwargs = outermost(function, sample)
        _same_dtype(kwargs)
        unread: list[str] = ["its arguments"]
        for call in calls(called, op, args, kwargs):
            left = [n for n in call.unread if n not in WITHOUT_EFFECT]
            if not left:
                return _reading(call, outputs)
            unread = left
        raise NotExpressed(f"no place for {', '.join(unread)}")

    return read


def _reading(call: Call, outputs: Callable[[Any], tuple[Any, ...]] | None) -> Reading:
    tensors = (
        tuple(call.tensors.values()) if call.op.variadic else tuple(call.tensors.get(n) for n in call.op.tensors)
    )
    given = {} if outputs is None else {"outputs": outputs}
    return Reading(call.op.name, tensors, call.params, **given)


def _same_dtype(kwargs: Any) -> None:
    dtype = kwargs.get("dtype")
    if dtype not in (None, torch.float64, torch.int64):
        raise NotExpressed(f"computed in {str(dtype).removeprefix('torch.')}")


def outermost(function: Any, sample: Any) -> tuple[Any, Sequence[Any], Any]:
    """PyTorch's function that an entry's own lambda calls, with its arguments: the first that gives what it returns."""
    seen: list[tuple[Any, Sequence[Any], Any]] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((func, args, kwargs or {}))
            return func(*args, **(kwargs or {}))

    with torch.no_grad(), Watch():  # which sees what is called within it, also of the other one
        function(sample.input, *sample.args, **sample.kwargs)
    calls_made = [c for c in seen if getattr(c[0], "__name__", "") != "__get__"]
    if len(calls_made) != 1:
        raise NotExpressed(f"{len(calls_made)} calls of PyTorch")
    return calls_made[0]


def called_as(read: Callable[..., Reading]) -> Reader:
    """A reader of a function that has the arguments of the entry's."""
    return lambda function, sample, result: read(sample.input, *sample.args, **sample.kwargs)


def with_result(read: Callable[..., Reading]) -> Reader:
    """The same, of a function that is given first what PyTorch computed."""
    return lambda function, sample, result: read(result, sample.input, *sample.args, **sample.kwargs)


def unless(condition: object, why: str) -> None:
    """Raise NotExpressed where the condition holds."""
    if condition:
        raise NotExpressed(why)
