"""mlx: Apple's MLX on the CPU, each operator by MLX's own function, gradients by mx.vjp.

`-b mlx` runs operation by operation; `-b mlx:compile` lets mlx.nn compile its activations, which on a CPU calls
a C++ compiler for each (seconds). MLX reads arrays laid out row by row: other layouts are copied on the way in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends._protocol import BackendError, Unsupported, float_name

Array = NDArray[Any]

#: Operators that round intermediates to the 16-bit dtype, by (op, mode), measured: docs/backends/mlx.md.
STORES_INTERMEDIATES: dict[tuple[str, str], tuple[str, ...]] = {}


class Mlx:
    """MLX's functions on its CPU device."""

    name, device = "mlx", "cpu"

    def __init__(self, mx: Any, table: Mapping[str, Callable[..., Any]]) -> None:
        self._mx, self._table, self.version = mx, table, str(mx.__version__)
        self._types = {"f64": mx.float64, "f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16, "i64": mx.int64}

    def compute(self, op: str, dtype: str, mode: str) -> str | None:
        return "storage" if dtype in STORES_INTERMEDIATES.get((op, mode), ()) else None

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return op in self._table or f"MLX has no {op}"

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        return [self._numpy(y) for y in self._outputs(op, list(map(self._tensor, inputs)), params)]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        tensors, gs = list(map(self._tensor, inputs)), list(map(self._tensor, cotangents))
        floats = [i for i, y in enumerate(self._outputs(op, tensors, params)) if self._is_float(y)]

        def outputs(*leaves: Any) -> list[Any]:
            leaf = iter(leaves)
            placed = [next(leaf) if n else t for t, n in zip(tensors, needs, strict=True)]
            ys = self._outputs(op, placed, params)
            return [ys[i] for i in floats]

        leaves = [t for t, n in zip(tensors, needs, strict=True) if n]
        try:
            _, gradients = self._mx.vjp(outputs, leaves, [gs[i] for i in floats])
        except RuntimeError as error:
            if "Not implemented" in str(error):
                raise Unsupported(f"MLX: {error}") from None
            raise
        found = iter(gradients)
        return [self._numpy(next(found)) if n else None for n in needs]

    def _outputs(self, op: str, tensors: Sequence[Any], params: Mapping[str, Any]) -> list[Any]:
        if op not in self._table:
            raise Unsupported(f"MLX has no {op}")
        result = self._table[op](*tensors, **params)
        return list(result) if isinstance(result, tuple | list) else [result]

    def _is_float(self, y: Any) -> bool:
        return bool(self._mx.issubdtype(y.dtype, self._mx.floating))

    def _tensor(self, array: Array | None) -> Any:
        if array is None:
            return None
        return self._mx.array(
            np.ascontiguousarray(array).reshape(array.shape), dtype=self._types[float_name(array.dtype)]
        )

    def _numpy(self, y: Any) -> Array:
        if y.dtype == self._mx.bfloat16:
            import ml_dtypes

            return np.array(y.view(self._mx.uint16)).view(ml_dtypes.bfloat16)
        return np.array(y)


def create(variant: str = "") -> Mlx:
    """MLX on the CPU, op by op ("") or with its activations compiled ("compile"). Raises BackendError without MLX."""
    if variant not in ("", "compile"):
        raise BackendError(f"backend mlx has no variant {variant!r}: expected mlx or mlx:compile.")
    try:
        import mlx.core as mx
    except ImportError:
        raise BackendError("backend mlx needs MLX, which is not installed; pip install 'opproof[mlx]'.") from None
    mx.set_default_device(mx.cpu)
    if not variant:
        mx.disable_compile()
    from opproof.backends import _mlx_moves, _mlx_nn, _mlx_ops

    return Mlx(mx, {**_mlx_ops.TABLE, **_mlx_moves.TABLE, **_mlx_nn.TABLE})
