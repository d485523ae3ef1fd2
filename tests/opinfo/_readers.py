"""How a sample of OpInfo is read as a call of an operator of ours: by its arguments' names, or by a small function.

A function that the table names has PyTorch's own signature and gives a `Reading`, or raises `NotExpressed` where
the operator cannot say what the arguments say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from _oracle import NotExpressed, Reader, Reading, unless
from torch.overrides import TorchFunctionMode

from opproof.reference_ops import load
from opproof.reference_ops._torch_calls import OperatorCall, read_calls

T = torch.Tensor
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
        for call in read_calls(called, op, args, kwargs):
            left = [n for n in call.unread if n not in WITHOUT_EFFECT]
            if not left:
                return _reading(call, outputs)
            unread = left
        raise NotExpressed(f"no place for {', '.join(unread)}")

    return read


def _reading(call: OperatorCall, outputs: Callable[[Any], tuple[Any, ...]] | None) -> Reading:
    tensors = tuple(call.tensors.values()) if call.op.variadic else tuple(call.tensors.get(n) for n in call.op.tensors)
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


def number_of(value: Any) -> Any:
    """A number, of itself or of a tensor that holds it."""
    unless(isinstance(value, T) and value.requires_grad, "a number has no gradient")
    return value.item() if isinstance(value, T) else value


def shape_of(size: Sequence[Any]) -> tuple[int, ...]:
    """Sizes that are given one by one, or as one tuple."""
    return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)


def as_tensor(value: Any, like: T) -> T:
    """The value as a tensor of the dtype beside it."""
    return value if isinstance(value, T) else torch.tensor(value, dtype=like.dtype)


def as_tensors(a: Any, b: Any) -> tuple[T, T]:
    """Two operands, of which one may be a number."""
    unless(not isinstance(a, T) and not isinstance(b, T), "two numbers")
    return (a, as_tensor(b, a)) if isinstance(a, T) else (as_tensor(a, b), b)


def dims_of(dim: Any) -> Any:
    """Axes as ours are: none for all."""
    return (tuple(dim) or None) if isinstance(dim, list | tuple) else dim


def first(y: Any) -> tuple[Any, ...]:
    """The first of several results."""
    return (y[0],)


def second(y: Any) -> tuple[Any, ...]:
    """The second."""
    return (y[1],)
