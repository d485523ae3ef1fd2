"""Arrays that count the operations of a reference that computes on them, as it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

#: Operations that move, compare or select: they compute nothing.
_FREE = frozenset(
    "copyto isnan isfinite isinf equal not_equal less less_equal greater greater_equal logical_and logical_or "
    "logical_not logical_xor positive signbit bitwise_and bitwise_or invert".split()
)


class Count:
    """Operations so far."""

    def __init__(self) -> None:
        self.total = 0


class Counted(np.ndarray):
    """An array whose operations are counted: one an element of a result, two a term of a product."""

    count: Count | None

    def __array_finalize__(self, other: Any) -> None:
        """See NumPy."""
        self.count = getattr(other, "count", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """See NumPy."""
        count = next(a.count for a in _find_arrays((inputs, kwargs)) if isinstance(a, Counted))
        result = getattr(ufunc, method)(*_to_bare(inputs), **_to_bare(kwargs))
        if count is not None and ufunc.__name__ not in _FREE:
            count.total += _cost_of(ufunc, method, inputs, result)
        return _wrap_result(result, count)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        """See NumPy. Products of tensors are counted here, what is made of smaller operations where these are made."""
        count = next((a.count for a in _find_arrays((args, kwargs)) if isinstance(a, Counted)), None)
        if function in _PRODUCTS:
            result = function(*_to_bare(args), **_to_bare(kwargs))
            if count is not None:
                count.total += _cost_of_product(function, args, kwargs, result)
            return _wrap_result(result, count)
        return _wrap_result(super().__array_function__(function, types, args, kwargs), count)


_PRODUCTS = (np.einsum, np.dot, np.tensordot, np.vdot, np.inner)


def _cost_of(ufunc: np.ufunc, method: str, inputs: Any, result: Any) -> int:
    if ufunc is np.matmul:
        return 2 * int(np.size(result)) * int(np.shape(inputs[0])[-1])
    if method in ("reduce", "accumulate", "reduceat"):
        return int(np.size(inputs[0]))
    parts = result if isinstance(result, tuple) else (result,)
    return sum(int(np.size(p)) for p in parts)


def _cost_of_product(function: Callable[..., Any], args: Any, kwargs: Any, result: Any) -> int:
    if function is np.einsum and isinstance(args[0], str):
        terms = args[0].partition("->")[0].replace(" ", "").split(",")
        sizes: dict[str, int] = {}
        for term, array in zip(terms, args[1:], strict=False):
            named = [c for c in term if c.isalpha()]
            sizes |= dict(zip(reversed(named), reversed(np.shape(array)), strict=False))
        total = int(np.prod([*sizes.values()], dtype=np.int64))
        return max(total, int(np.size(result))) * max(1, len(terms))
    first, second = np.size(args[0]), np.size(args[1])
    summed = (first * second / max(1, np.size(result))) ** 0.5  # of a product over common axes
    del kwargs
    return int(2 * np.size(result) * summed)


def _find_arrays(values: Any) -> Iterator[Any]:
    if isinstance(values, tuple | list):
        for v in values:
            yield from _find_arrays(v)
    elif isinstance(values, dict):
        yield from _find_arrays(tuple(values.values()))
    elif isinstance(values, np.ndarray):
        yield values


def _to_bare(values: Any) -> Any:
    if isinstance(values, tuple | list):
        return type(values)(map(_to_bare, values))
    if isinstance(values, dict):
        return {k: _to_bare(v) for k, v in values.items()}
    return values.view(np.ndarray) if isinstance(values, Counted) else values


def _wrap_result(result: Any, count: Count | None) -> Any:
    if isinstance(result, tuple):
        return tuple(_wrap_result(r, count) for r in result)
    if isinstance(result, np.ndarray | np.generic) and np.asarray(result).dtype.kind == "f":
        return wrap_array(np.asarray(result), count)
    return result.view(np.ndarray) if isinstance(result, Counted) else result


def wrap_array(array: Array, count: Count | None) -> Counted:
    """A view of `array` whose operations are added to `count`."""
    view = array.view(Counted)
    view.count = count
    return view
