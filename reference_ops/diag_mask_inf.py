"""diag_mask_inf: -inf where column j is beyond n_past + i for row i, x elsewhere (the causal mask).

Shapes: x (..., m, n); y as x.
Gradient: g, and 0 where masked.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.3.
PyTorch: none (torch.masked_fill). ONNX: none. ggml: ggml_diag_mask_inf.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,m,n)"
EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)
NEIGHBOURS = ("diag_mask_zero",)


def _masked(x: Array, n_past: int) -> Array:
    m, n = x.shape[-2:]
    return np.arange(n) > n_past + np.arange(m)[:, None]


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -2)]


def forward(x: Array, *, n_past: int = 0) -> Array:
    return np.where(_masked(x, n_past), -np.inf, x)


def hidden(x: Array, *, n_past: int = 0) -> tuple[Array | None, ...]:
    return (np.broadcast_to(_masked(x, n_past), x.shape),)


def vjp(g: Array, y: Array, x: Array, *, n_past: int = 0) -> Array:
    return np.where(_masked(x, n_past), 0, g)


def torch(torch: Any, x: Any, *, n_past: int = 0) -> Any:
    mask = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device).triu(n_past + 1)
    return x.masked_fill(mask, float("-inf"))
