"""linear_geglu: gelu(x gateᵀ) (x upᵀ), the first half of a feed-forward layer.

Shapes: x (..., k), gate and up (n, k); y (..., n).
Gradient: with a = x gateᵀ, b = x upᵀ, da = g b gelu'(a) and db = g gelu(a): dx = da gate + db up, dgate = daᵀ x and
dup = dbᵀ x, both summed over all leading axes. approximate is that of gelu.
Source: Shazeer, GLU Variants Improve Transformer (2020), equation 6.
PyTorch: none (torch.nn.functional.linear and gelu). ONNX: none. ggml: none (ggml_mul_mat and ggml_geglu_split).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import gelu
from opproof.reference_ops._linear_gated import gated, gated_vjp, independent_rows, torch_gated

SIGNATURE = "(...,k),(n,k),(n,k)"
ANALYTIC = True
TRAITS = ("long sum", "multiplies")
NEIGHBOURS = ("linear_swiglu",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return independent_rows(shapes)


def forward(x: Array, gate: Array, up: Array, *, approximate: str = "none") -> Array:
    return gated(gelu, x, gate, up, approximate=approximate)


def vjp(
    g: Array, y: Array, x: Array, gate: Array, up: Array, *, approximate: str = "none"
) -> tuple[Array, Array, Array]:
    return gated_vjp(gelu, g, x, gate, up, approximate=approximate)


def torch(torch: Any, x: Any, gate: Any, up: Any, *, approximate: str = "none") -> Any:
    return torch_gated(torch, lambda a: torch.nn.functional.gelu(a, approximate=approximate), x, gate, up)
