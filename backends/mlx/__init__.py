"""mlx: Apple's MLX on the CPU, each operator by MLX's own function, gradients by mx.vjp.

`-b mlx` runs operation by operation; `-b mlx:compile` lets mlx.nn compile its activations, which on a CPU calls
a C++ compiler for each (seconds). MLX reads arrays laid out row by row: other layouts are copied on the way in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from opproof.backends.protocol import Unsupported, float_name
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.errors import BackendError

#: What MLX says where its CPU has no kernel or no derivative; it says so by ValueError or RuntimeError.
DECLINES = (
    "Not implemented", "not implemented", "unsupported data type", "only supports float32", "Can only handle",
    "Cannot max reduce", "Cannot min reduce",
)  # fmt: skip

#: Operators that round intermediates to the 16-bit dtype, by mode, measured: docs/backends/mlx.md.
STORES_INTERMEDIATES: dict[str, frozenset[str]] = {
    "forward": frozenset(
        (
            "batch_norm bce_with_logits celu conv1d conv2d conv2d_depthwise conv3d conv_transpose1d "
            "conv_transpose2d cross_entropy cumprod cumsum elu gelu gelu_quick group_norm index_add instance_norm "
            "layer_norm leaky_relu log_softmax logsumexp mish opt_step_adamw opt_step_sgd rope scale "
            "scaled_dot_product_attention scatter_add selu silu std"
        ).split()
    ),
    "gradient": frozenset(
        (
            "add_id atan2 avg_pool1d avg_pool2d batch_norm bce_with_logits celu cross_entropy cumprod cumsum div "
            "elu embedding erf gather gelu gelu_quick group_norm hardswish huber_loss index_select instance_norm "
            "layer_norm leaky_relu log_softmax logsumexp matmul mish mul norm outer_product pad prelu prod "
            "rms_norm rope scaled_dot_product_attention selu silu smooth_l1_loss softsign std take_along_dim "
            "upsample_bicubic upsample_bilinear var"
        ).split()
    ),
}


class Mlx:
    """MLX's functions on its CPU device."""

    name, device = "mlx", "cpu"

    def __init__(self, mx: Any, table: Mapping[str, Callable[..., Any]]) -> None:
        self._mx, self._table, self.version = mx, table, str(mx.__version__)
        self._types = {"f64": mx.float64, "f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16, "i64": mx.int64}

    def compute(self, op: str, dtype: str, mode: str) -> str | None:
        return "storage" if dtype in ("f16", "bf16") and op in STORES_INTERMEDIATES[mode] else None

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return op in self._table or f"MLX has no {op}"

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        with _declining():
            return [self._numpy(y) for y in self._outputs(op, list(map(self._tensor, inputs)), params)]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        tensors, gs = list(map(self._tensor, inputs)), list(map(self._tensor, cotangents))

        def outputs(*leaves: Any) -> list[Any]:
            leaf = iter(leaves)
            placed = [next(leaf) if n else t for t, n in zip(tensors, needs, strict=True)]
            return [y for y, g in zip(self._outputs(op, placed, params), gs, strict=True) if g is not None]

        leaves = [t for t, n in zip(tensors, needs, strict=True) if n]
        with _declining():
            found = iter(self._mx.vjp(outputs, leaves, [g for g in gs if g is not None])[1])
            return [self._numpy(next(found)) if n else None for n in needs]

    def _outputs(self, op: str, tensors: Sequence[Any], params: Mapping[str, Any]) -> list[Any]:
        if op not in self._table:
            raise Unsupported(f"MLX has no {op}")
        result = self._table[op](*tensors, **params)
        return list(result) if isinstance(result, tuple | list) else [result]

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


@contextmanager
def _declining() -> Iterator[None]:
    """MLX evaluates late, so its refusals may come from anywhere."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        if any(words in str(error) for words in DECLINES):
            raise Unsupported(f"MLX: {error}") from None
        raise


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
    from opproof.backends.mlx import losses as _mlx_losses
    from opproof.backends.mlx import moves as _mlx_moves
    from opproof.backends.mlx import nn as _mlx_nn
    from opproof.backends.mlx import pointwise as _mlx_pointwise
    from opproof.backends.mlx import reductions as _mlx_reductions
    from opproof.backends.mlx import windows as _mlx_windows

    files = (_mlx_pointwise, _mlx_reductions, _mlx_moves, _mlx_nn, _mlx_windows, _mlx_losses)
    return Mlx(mx, {op: f for file in files for op, f in file.TABLE.items()})
