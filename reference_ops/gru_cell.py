"""gru_cell: one step of a gated recurrent unit: the next hidden state.

With a = x weight_ihᵀ + bias_ih and b = h weight_hhᵀ + bias_hh, both cut into three, and σ the sigmoid:
r = σ(a_r + b_r), z = σ(a_z + b_z), u = tanh(a_u + r b_u), h' = (1 - z) u + z h.
Shapes: x (n, k), h (n, m), weight_ih (3 m, k), weight_hh (3 m, m), bias_ih and bias_hh (3 m,) or none; h' (n, m).
Gradient: du = g (1 - z) (1 - u²), dr = du b_u r (1 - r), dz = g (h - u) z (1 - z); da is dr, dz, du and db is dr, dz,
du r; then as a linear layer's, and z g more for h.
Source: Cho et al., Learning Phrase Representations using RNN Encoder-Decoder (2014); the reset as cuDNN and PyTorch.
PyTorch: torch.gru_cell. ONNX: GRU (one step, linear_before_reset, gates in another order). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid
from opproof.reference_ops._cells import gates, joined, products, products_vjp
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,k),(n,m),(3*m,k),(3*m,m),(3*m)?,(3*m)?"
ANALYTIC = True
OUTPUTS = ("h",)
TRAITS = ("long sum", "multiplies")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": -2, "h": -2}]


def forward(
    x: Array,
    h: Array,
    weight_ih: Array,
    weight_hh: Array,
    bias_ih: Array | None = None,
    bias_hh: Array | None = None,
) -> Array:
    a, b = products(x, h, (weight_ih, weight_hh, bias_ih, bias_hh))
    (ar, az, au), (br, bz, bu) = gates(a, 3), gates(b, 3)
    z, u = sigmoid(az + bz), np.tanh(au + sigmoid(ar + br) * bu)
    return u + z * (h - u)  # type: ignore[no-any-return]


def vjp(
    g: Array,
    y: Array,
    x: Array,
    h: Array,
    weight_ih: Array,
    weight_hh: Array,
    bias_ih: Array | None = None,
    bias_hh: Array | None = None,
) -> tuple[Array, Array, Array, Array, Array | None, Array | None]:
    weights = (weight_ih, weight_hh, bias_ih, bias_hh)
    a, b = products(x, h, weights)
    (ar, az, au), (br, bz, bu) = gates(a, 3), gates(b, 3)
    r, z = sigmoid(ar + br), sigmoid(az + bz)
    u = np.tanh(au + r * bu)
    # From the gates as a kernel saves them: 1 - r and 1 - z, which cancel where these are near 1. And g - g z, the
    # gradient of u + z (h - u) term by term: where a gate is shut, what it rounds is not what dz rounds.
    du = (g - g * z) * (1 - u * u)
    dr, dz = du * bu * r * (1 - r), g * (h - u) * z * (1 - z)
    dx, dh, *dweights = products_vjp(joined(dr, dz, du), joined(dr, dz, du * r), x, h, weights)
    return dx, dh + g * z, *dweights


def torch(torch: Any, x: Any, h: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None) -> Any:
    return torch.gru_cell(*widened(torch, x, h, weight_ih, weight_hh, bias_ih, bias_hh)).to(x.dtype)
