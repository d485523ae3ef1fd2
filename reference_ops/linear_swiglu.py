"""linear_swiglu: silu(x gateᵀ) (x upᵀ), the first half of a feed-forward layer.

Shapes: x (..., k), gate and up (n, k); y (..., n).
Gradient: with a = x gateᵀ, b = x upᵀ, da = g b silu'(a) and db = g silu(a): dx = da gate + db up, dgate = daᵀ x and
dup = dbᵀ x, both summed over all leading axes.
Source: Shazeer, GLU Variants Improve Transformer (2020), equation 6.
PyTorch: none (torch.nn.functional.linear and silu). ONNX: none. ggml: none (ggml_mul_mat and ggml_swiglu_split).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import silu
from opproof.reference_ops._linear_gated import gated, gated_vjp, independent_rows, torch_gated

SIGNATURE = "(...,k),(n,k),(n,k)"
ANALYTIC = True
TRAITS = ("long sum", "multiplies")
NEIGHBOURS = ("linear_geglu",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return independent_rows(shapes)


def forward(x: Array, gate: Array, up: Array) -> Array:
    return gated(silu, x, gate, up)


def vjp(g: Array, y: Array, x: Array, gate: Array, up: Array) -> tuple[Array, Array, Array]:
    return gated_vjp(silu, g, x, gate, up)


def torch(torch: Any, x: Any, gate: Any, up: Any) -> Any:
    return torch_gated(torch, torch.nn.functional.silu, x, gate, up)
