"""numpy: the references themselves, evaluated in the case's dtype (16-bit ones in float32, integers in float64).

What an honest, simple implementation looks like: it passes everything, and shows how far rounding
alone carries a result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opproof.backends.capabilities import select_possible
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import check_variant, write_results
from opproof.core.arrays import Array
from opproof.core.dtypes import DECLARED, DTYPES
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Destination
from opproof.reference_ops import Op, gradients_of, load

#: Floats that are evaluated in float32.
_NARROW_DTYPES = ("f16", "bf16", "f8e4m3", "f8e5m2")
_WHOLE = frozenset(d.numpy for d in DTYPES.values() if d.whole)
#: How a result, a float32 or float64 array or integers, is stored in the float dtype of the inputs.
Store = Callable[[Any, np.dtype[Any]], Array]


def store_nearest(y: Any, dtype: np.dtype[Any]) -> Array:
    """`y` stored in `dtype` where it is of floats, to nearest."""
    array = np.asarray(y)
    with np.errstate(all="ignore"):
        return array.astype(dtype) if array.dtype.kind == "f" else array


class NumPy:
    """Values and gradients by the references' own formulas."""

    name, version, device = "numpy", np.__version__, "cpu"
    destinations = tuple(Destination)
    dtypes = DECLARED
    mixed = True

    def __init__(self) -> None:
        self.capabilities = select_possible(_list_capabilities())

    def forward(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        out: Sequence[Array | None] | None = None,
    ) -> list[Array]:  # fmt: skip
        return write_results(compute_values(load(op), inputs, params), out)

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool], out: Sequence[Array | None] | None = None,
    ) -> list[Array | None]:  # fmt: skip
        return write_results(compute_gradients(load(op), inputs, params, cotangents, needs), out)


def compute_values(
    op: Op, inputs: Sequence[Array | None], params: Mapping[str, Any], store: Store = store_nearest
) -> list[Array]:
    """Outputs of `op`, stored in the float dtype of the inputs."""
    whole = _whole_dtype_of(op, inputs)
    with np.errstate(all="ignore"):
        outputs = tuple_of(op.forward(*(_compute(x, whole) for x in inputs), **params))
    return [store(y, whole or _dtype_of(op, inputs)) for y in outputs]


def compute_gradients(
    op: Op,
    inputs: Sequence[Array | None],
    params: Mapping[str, Any],
    cotangents: Sequence[Array | None],
    needs: Sequence[bool],
    store: Store = store_nearest,
) -> list[Array | None]:
    """Gradients of the inputs that need one, None for the others. Raises Unsupported where `op` has no vjp.

    They are stored by `store`, each in the dtype of its input; the outputs that they are computed from to nearest.
    """
    if op.vjp is None:
        raise Unsupported(f"{op.name} has no gradient")
    outputs = [_compute(y) for y in compute_values(op, inputs, params)]
    with np.errstate(all="ignore"):
        found = gradients_of(op, list(map(_compute, cotangents)), outputs, list(map(_compute, inputs)), params)
    own = (_dtype_of(op, inputs) if x is None else x.dtype for x in inputs)
    return [store(d, dtype) if need else None for d, dtype, need in zip(found, own, needs, strict=True)]


def create(variant: str = "") -> Backend:
    """The backend; it has no variants. Raises BackendError for one."""
    check_variant("numpy", variant)
    return NumPy()


def _list_capabilities() -> dict[str, dict[str, str]]:
    """NumPy's kernels for x86 above the one named left out, and OpenBLAS told of a processor of that kind.

    NumPy has one list of what it was built with beyond its baseline (X86_V2, which is SSE4.2), the highest last.
    """
    umath = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    dispatched: list[str] = list(getattr(umath, "__cpu_dispatch__", []))
    if "X86_V3" not in dispatched:  # another architecture, or NumPy before 2.4, whose list has other names
        return {}
    kept = {"sse4": ("Nehalem", ()), "avx2": ("Haswell", ("X86_V3",)), "avx512": ("SkylakeX", ("X86_V3", "X86_V4"))}
    return {
        name: {
            "NPY_DISABLE_CPU_FEATURES": " ".join(f for f in dispatched if f not in left),
            "OPENBLAS_CORETYPE": core,
        }
        for name, (core, left) in kept.items()
    }


def _whole_dtype_of(op: Op, inputs: Sequence[Array | None]) -> np.dtype[Any] | None:
    """The dtype of integers that are data; None where there are none: int64 are places, and bytes may be codes.

    Raises Unsupported for integers of 32 bits, which are data, where they have no meaning.
    """
    given = {x.dtype for x in inputs if x is not None}
    if np.dtype(np.int32) in given and "i32" not in op.dtypes:
        raise Unsupported(f"{op.name} has no meaning in i32")
    if _WHOLE.isdisjoint(given):
        return None
    return next((DTYPES[d].numpy for d in op.dtypes if DTYPES[d].whole and DTYPES[d].numpy in given), None)


def _compute(x: Array | None, whole: np.dtype[Any] | None = None) -> Any:
    if x is None or x.dtype == whole:
        return x if x is None else x.astype(np.float64)
    return x.astype(np.float32) if short_name_of(x.dtype) in _NARROW_DTYPES else x


def _dtype_of(op: Op, inputs: Sequence[Array | None]) -> np.dtype[Any]:
    """The float dtype of results; float32, to which quantised bytes decode, where no input is of floats."""
    first = op.tensors.index(op.like) if op.like in op.tensors else 0
    floats = (x.dtype for x in (*inputs[first:], *inputs) if x is not None and _is_float(x))
    return next(floats, np.dtype(np.float32))


def _is_float(x: Array) -> bool:
    return x.dtype.kind == "f" or short_name_of(x.dtype) in _NARROW_DTYPES
