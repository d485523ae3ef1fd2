"""A symbol of a C library as a candidate: pointers to the inputs, to the outputs, then sizes.

    void add(const float *a, const float *b, float *y, int64_t rows, int64_t columns);

Tensors lie row by row in their dtype. The sizes are those of the first tensor's axes, as int64_t; where a ctypes
function declares its argument types and these have one number alone, it is the number of the first tensor's elements.
Whatever it returns but 0 or nothing is an error.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.core.errors import UsageError

_PREFIX = "c:"
_FUNCTION = type(ctypes.pythonapi.Py_IsInitialized).__mro__[1]  # of all functions that ctypes finds in libraries
_WHOLE = tuple(getattr(ctypes, f"c_{name}") for name in "int uint long ulong longlong ulonglong size_t ssize_t".split())


@dataclass(frozen=True)
class Symbol:
    """A function of C; `sizes`: the types of the numbers behind the pointers, None: int64_t, one an axis."""

    name: str
    function: Any
    sizes: tuple[Any, ...] | None


def is_symbol(candidate: Any) -> bool:
    """Whether it is a ctypes function, or text such as "c:./libmine.so:my_kernel"."""
    return isinstance(candidate, _FUNCTION) or (isinstance(candidate, str) and candidate.startswith(_PREFIX))


def found(candidate: Any) -> Symbol:
    """The function. Raises UsageError where the library or the symbol is not there."""
    if not isinstance(candidate, str):
        types = candidate.argtypes
        return Symbol(candidate.__name__, candidate, None if types is None else tuple(t for t in types if t in _WHOLE))
    path, _, name = candidate.removeprefix(_PREFIX).rpartition(":")
    try:
        library = ctypes.CDLL(str(Path(path).resolve()))
    except OSError as error:
        raise UsageError(f"cannot load the library {path!r} ({error}): give 'c:./libmine.so:my_kernel'.") from None
    try:
        function = library[name]
    except AttributeError:
        raise UsageError(f"{path} has no symbol {name!r}: give one that it exports.") from None
    function.restype = None
    return Symbol(name, function, None)


def call(symbol: Symbol, like: Callable[..., Any], *given: Any) -> Any:
    """Call it with outputs shaped as the reference's, filled with NaN or the like beforehand."""
    import torch

    tensors = [t for t in given if isinstance(t, torch.Tensor)]
    if len(tensors) != len(given):
        raise UsageError(f"{symbol.name} is a symbol of C: expected tensors alone as inputs; wrap it in Python.")
    with torch.no_grad():
        wanted = like(*(t.detach().clone() for t in tensors))
    several = isinstance(wanted, tuple | list)
    outputs = [_poisoned(torch, y) for y in (wanted if several else [wanted])]
    rows = [t.detach().contiguous() for t in tensors]
    sizes = _sizes(symbol, rows[0])
    status = symbol.function(*(ctypes.c_void_p(t.data_ptr()) for t in (*rows, *outputs)), *sizes)
    if status:
        raise RuntimeError(f"{symbol.name} returned {status}")
    return tuple(outputs) if several else outputs[0]


def _sizes(symbol: Symbol, first: Any) -> Sequence[Any]:
    types = symbol.sizes
    if types is None:
        return [ctypes.c_int64(n) for n in first.shape]
    if len(types) == 1:
        return [types[0](first.numel())]
    if len(types) != first.dim():
        raise UsageError(
            f"{symbol.name} takes {len(types)} sizes and the first tensor has {first.dim()} axes: expected one number, "
            f"or one an axis; wrap it in Python."
        )
    return [kind(n) for kind, n in zip(types, first.shape, strict=True)]


def _poisoned(torch: Any, like: Any) -> Any:
    made = torch.empty(like.shape, dtype=like.dtype)
    return made.fill_(float("nan")) if made.is_floating_point() else made.fill_(1)
