"""flash_ff: a whole feed-forward layer, gelu(x weight1ᵀ + bias1) weight2ᵀ + bias2.

Shapes: x (..., k), weight1 (m, k), bias1 (m,), weight2 (n, m), bias2 (n,); y (..., n). gelu by erf, or by tanh.
Gradient: with a = x weight1ᵀ + bias1, h = gelu(a), dh = g weight2 and da = dh gelu'(a): dx = da weight1,
dweight1 = daᵀ x, dbias1 = da, dweight2 = gᵀ h and dbias2 = g, summed over all leading axes.
Source: Vaswani et al., Attention Is All You Need (2017), equation 2, with gelu; ggml.h of 2023, ggml_flash_ff.
PyTorch: none (torch.nn.functional.linear and gelu). ONNX: none. ggml: ggml_flash_ff (until 2023).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import gelu, linear
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,k),(m,k),(m),(n,m),(n)"
ANALYTIC = True
TRAITS = ("long sum", "multiplies")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    rows = [{"x": -k, "y": -k} for k in range(len(shapes["x"]), 1, -1)]
    return [*rows, {"weight2": -2, "bias2": -1, "y": -1}]


def forward(
    x: Array, weight1: Array, bias1: Array, weight2: Array, bias2: Array, *, approximate: str = "none"
) -> Array:
    h = gelu.forward(linear.forward(x, weight1, bias1), approximate=approximate)
    return linear.forward(h, weight2, bias2)


def vjp(
    g: Array,
    y: Array,
    x: Array,
    weight1: Array,
    bias1: Array,
    weight2: Array,
    bias2: Array,
    *,
    approximate: str = "none",
) -> tuple[Array | None, Array | None, Array | None, Array | None, Array | None]:
    a = linear.forward(x, weight1, bias1)
    h = gelu.forward(a, approximate=approximate)
    dh, dweight2, dbias2 = linear.vjp(g, y, h, weight2, bias2)
    dx, dweight1, dbias1 = linear.vjp(gelu.vjp(dh, h, a, approximate=approximate), a, x, weight1, bias1)
    return dx, dweight1, dbias1, dweight2, dbias2


def torch(torch: Any, x: Any, weight1: Any, bias1: Any, weight2: Any, bias2: Any, *, approximate: str = "none") -> Any:
    f, (a, *rest) = torch.nn.functional, widened(torch, x, weight1, bias1, weight2, bias2)
    h = f.gelu(f.linear(a, *rest[:2]), approximate=approximate)
    return f.linear(h, *rest[2:]).to(x.dtype)
