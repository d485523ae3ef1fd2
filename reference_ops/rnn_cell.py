"""rnn_cell: one step of a plain recurrence: the next hidden state.

h' = f(x weight_ihᵀ + bias_ih + h weight_hhᵀ + bias_hh), f the tanh or, where nonlinearity is "relu", max(0, .).
Shapes: x (n, k), h (n, m), weight_ih (m, k), weight_hh (m, m), bias_ih and bias_hh (m,) or none; h' (n, m).
Gradient: dz = g (1 - h'²), or g where z > 0; then as a linear layer's.
Kinks: z = 0 of "relu".
Source: Elman, Finding Structure in Time (1990).
PyTorch: torch.rnn_tanh_cell, torch.rnn_relu_cell. ONNX: RNN (one step). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._cells import products, products_vjp
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,k),(n,m),(m,k),(m,m),(m)?,(m)?"
OUTPUTS = ("h",)
TRAITS = ("long sum", "multiplies")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": -2, "h": -2}]


def forward(
    x: Array, h: Array, weight_ih: Array, weight_hh: Array, bias_ih: Array | None = None,
    bias_hh: Array | None = None, *, nonlinearity: str = "tanh",
) -> Array:  # fmt: skip
    z = sum(products(x, h, (weight_ih, weight_hh, bias_ih, bias_hh)))
    return np.tanh(z) if nonlinearity == "tanh" else np.maximum(z, 0)


def vjp(
    g: Array, y: Array, x: Array, h: Array, weight_ih: Array, weight_hh: Array, bias_ih: Array | None = None,
    bias_hh: Array | None = None, *, nonlinearity: str = "tanh",
) -> tuple[Array, Array, Array, Array, Array | None, Array | None]:  # fmt: skip
    weights = (weight_ih, weight_hh, bias_ih, bias_hh)
    dz = g * (1 - y * y) if nonlinearity == "tanh" else np.where(y > 0, g, 0)
    return products_vjp(dz, dz, x, h, weights)


def kinks(
    x: Array, h: Array, weight_ih: Array, weight_hh: Array, bias_ih: Array | None = None,
    bias_hh: Array | None = None, *, nonlinearity: str = "tanh",
) -> Array:  # fmt: skip
    if nonlinearity == "tanh":
        return np.full(x.shape, np.inf)
    z = np.abs(sum(products(x, h, (weight_ih, weight_hh, bias_ih, bias_hh))))
    return np.broadcast_to(np.min(z, axis=1, keepdims=True, initial=np.inf), x.shape)


def torch(
    torch: Any, x: Any, h: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None,
    *, nonlinearity: str = "tanh",
) -> Any:  # fmt: skip
    given = widened(torch, x, h, weight_ih, weight_hh, bias_ih, bias_hh)
    return getattr(torch, f"rnn_{nonlinearity}_cell")(*given).to(x.dtype)
