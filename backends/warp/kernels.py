"""Kernels in Warp's language around one builtin each: operands are flat, and an array of places says which meet.

Each kernel is a Warp module of its own, compiled in a quarter of a second when first launched, and kept in Warp's
cache: one module for all takes longer than a case may, and a worker that was stopped would begin anew.
"""

import functools
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import warp as wp

from opproof.backends.protocol import Unsupported
from opproof.backends.warp.functions import POINTWISE, Entry

DTYPES = {"f64": wp.float64, "f32": wp.float32, "f16": wp.float16}


@functools.cache
def make_kernel(name: str, dtype: str) -> Any:
    """The kernel of an operator of POINTWISE, or of MOVING, for this dtype. Raises Unsupported for float16 atomics."""
    if dtype == "f16" and name in ("atomic_max", "atomic_min"):
        raise Unsupported(f"Warp's {name} has no float16")
    # The builtin is part of the name: Warp's cache does not see which was captured (docs/reference/backends/warp.md).
    builtin = POINTWISE[name].function.key if name in POINTWISE else name
    module = wp.get_module(f"opproof_{name}_{builtin}_{dtype}")
    if name in POINTWISE:
        return _make_pointwise(name, POINTWISE[name], DTYPES[dtype], module)
    return _make_moving(name, MOVING[name], DTYPES[dtype], module)


def _make_kernel(body: Callable[..., None], name: str, types: Mapping[str, Any], module: Any) -> Any:
    """`body` as a kernel whose parameters have these types; Warp would read them from annotations."""
    typed = FunctionType(body.__code__, body.__globals__, name, None, body.__closure__)
    typed.__annotations__ = dict(types)
    return wp.Kernel(typed, key=name, module=module)


def _make_pointwise(op: str, entry: Entry, T: Any, module: Any) -> Any:
    floats, places, f = wp.array(dtype=T), wp.array(dtype=wp.int32), entry.function
    result = wp.array(dtype=wp.bool) if entry.test else floats

    def one(a: Any, ia: Any, y: Any) -> None:
        i = wp.tid()
        y[i] = f(a[ia[i]])

    def one_bounded(a: Any, ia: Any, p: Any, q: Any, y: Any) -> None:
        i = wp.tid()
        y[i] = f(a[ia[i]], p, q)

    def two(a: Any, ia: Any, b: Any, ib: Any, y: Any) -> None:
        i = wp.tid()
        y[i] = f(a[ia[i]], b[ib[i]])

    def two_and_one(a: Any, ia: Any, b: Any, ib: Any, p: Any, y: Any) -> None:
        i = wp.tid()
        y[i] = f(a[ia[i]], b[ib[i]], p)

    def three(a: Any, ia: Any, b: Any, ib: Any, c: Any, ic: Any, y: Any) -> None:
        i = wp.tid()
        y[i] = f(a[ia[i]], b[ib[i]], c[ic[i]])

    bodies: dict[tuple[int, int], Callable[..., None]] = {
        (1, 0): one,
        (1, 2): one_bounded,
        (2, 0): two,
        (2, 1): two_and_one,
        (3, 0): three,
    }
    body = bodies[entry.tensors, len(entry.params)]
    integers = {"where": "a", "masked_fill": "b"}.get(op)  # the operand that is a mask
    types: dict[str, Any] = {}
    for name in "abc"[: entry.tensors]:
        types |= {name: wp.array(dtype=wp.int64) if name == integers else floats, f"i{name}": places}
    return _make_kernel(body, op, types | dict.fromkeys("pq"[: len(entry.params)], T) | {"y": result}, module)


def _read(x: Any, at: Any, y: Any) -> None:
    i = wp.tid()
    y[i] = x[at[i]]


def _add(x: Any, at: Any, y: Any) -> None:
    i = wp.tid()
    wp.atomic_add(y, at[i], x[i])


def _max(x: Any, at: Any, y: Any) -> None:
    i = wp.tid()
    wp.atomic_max(y, at[i], x[i])


def _min(x: Any, at: Any, y: Any) -> None:
    i = wp.tid()
    wp.atomic_min(y, at[i], x[i])


MOVING: dict[str, Callable[..., None]] = {"read": _read, "atomic_add": _add, "atomic_max": _max, "atomic_min": _min}


def _make_moving(name: str, body: Callable[..., None], T: Any, module: Any) -> Any:
    return _make_kernel(
        body, name, {"x": wp.array(dtype=T), "at": wp.array(dtype=wp.int32), "y": wp.array(dtype=T)}, module
    )
