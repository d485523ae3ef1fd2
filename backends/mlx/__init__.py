"""mlx: Apple's MLX, each operator by MLX's own function, gradients by mx.vjp.

`-b mlx` runs operation by operation on the CPU, `-b mlx:gpu` on a GPU; `-b mlx:compile` lets mlx.nn compile its
activations, which on a CPU calls a C++ compiler for each (seconds). MLX reads arrays laid out row by row: other layouts
are copied on the way in.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import (
    Table,
    check_variant,
    find_device,
    function_of,
    import_library,
    join_tables,
    pull_back,
    supports,
)
from opproof.core.arrays import Array
from opproof.core.graph import is_graph
from opproof.core.tuples import tuple_of

#: What MLX says where its CPU has no kernel or no derivative; it says so by ValueError or RuntimeError.
DECLINES = (
    "Not implemented", "not implemented", "unsupported data type", "only supports float32", "Can only handle",
    "Cannot max reduce", "Cannot min reduce", "Unsupported type", "Only inexact types are supported",
)  # fmt: skip


class Mlx:
    """MLX's functions on one device."""

    name = "mlx"
    dtypes = ("i8", "i16", "i32", "u8")

    def __init__(self, mx: Any, table: Table, variant: str) -> None:
        self.compute, self.rounding = precision.load_built_in("mlx", variant)
        self.device = "gpu" if variant == "gpu" else "cpu"
        self._mx, self.table, self.version = mx, table, str(mx.__version__)
        self._types = {"f64": mx.float64, "f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16, "i64": mx.int64}
        self._types |= {"i8": mx.int8, "i16": mx.int16, "i32": mx.int32, "u8": mx.uint8}

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return supports(self.table, op, "MLX")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        function = self._make_function(op, params)
        with _with_declines():
            return [self._numpy(y) for y in tuple_of(function(*map(self._tensor, inputs)))]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        function = self._make_function(op, params)
        tensors, gs = list(map(self._tensor, inputs)), list(map(self._tensor, cotangents))
        with _with_declines():
            found = pull_back(self._pull, function, tensors, gs, needs)
            return [None if d is None else self._numpy(d) for d in found]

    def _make_function(self, op: str, params: Mapping[str, Any]) -> Callable[..., Any]:
        """The operator of tensors alone; a graph is compiled as a whole where MLX compiles at all."""
        function = functools.partial(function_of(self.table, op, "MLX"), **params)
        return self._mx.compile(function) if is_graph(op) else function

    def _pull(self, f: Callable[..., Any], leaves: list[Any], gs: list[Any]) -> Any:
        return self._mx.vjp(f, leaves, gs)[1]

    def _tensor(self, array: Array | None) -> Any:
        if array is None:
            return None
        return self._mx.array(
            np.ascontiguousarray(array).reshape(array.shape), dtype=self._types[short_name_of(array.dtype)]
        )

    def _numpy(self, y: Any) -> Array:
        if y.dtype == self._mx.bfloat16:
            import ml_dtypes

            return np.array(y.view(self._mx.uint16)).view(ml_dtypes.bfloat16)
        return np.array(y)


@contextmanager
def _with_declines() -> Iterator[None]:
    """MLX evaluates late, so its refusals may come from anywhere."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        if any(words in str(error) for words in DECLINES):
            raise Unsupported(f"MLX: {error}") from None
        raise


def list_devices(_: str = "") -> dict[str, str]:
    """What to write after -b for each device that MLX finds, and what it is."""
    mx = import_library("mlx.core", "mlx", "MLX")
    found = {f"mlx:{name}" if name == "gpu" else "mlx": getattr(mx, name) for name in ("cpu", "gpu")}
    return {spec: str(mx.Device(kind)) for spec, kind in found.items() if mx.is_available(mx.Device(kind))}


def create(variant: str = "") -> Backend:
    """MLX op by op on the CPU ("") or on a "gpu", or with its activations compiled ("compile").

    Raises BackendError where it is not installed, or finds no GPU.
    """
    check_variant("mlx", variant, "compile", "gpu")
    mx = import_library("mlx.core", "mlx", "MLX")
    if variant == "gpu":
        find_device("mlx", "gpu", ["gpu"] if "mlx:gpu" in list_devices() else ["cpu"])
    mx.set_default_device(mx.gpu if variant == "gpu" else mx.cpu)
    if variant != "compile":
        mx.disable_compile()
    from opproof.backends.mlx import losses, moves, nn, pointwise, reductions, windows

    return Mlx(mx, join_tables(pointwise, reductions, moves, nn, windows, losses), variant)
