"""lstm_cell: one step of a long short-term memory: the next hidden state, and the next cell.

With z = x weight_ihᵀ + bias_ih + h weight_hhᵀ + bias_hh cut into i, f, u and o, and σ the sigmoid:
c' = σ(f) c + σ(i) tanh(u), h' = σ(o) tanh(c').
Shapes: x (n, k), h and c (n, m), weight_ih (4 m, k), weight_hh (4 m, m), bias_ih and bias_hh (4 m,) or none;
h' and c' (n, m).
Gradient: with t = tanh(c'), dc' = g_c + g_h σ(o) (1 - t²): dc = dc' σ(f); dz is dc' tanh(u) σ'(i), dc' c σ'(f),
dc' σ(i) (1 - tanh²(u)), g_h t σ'(o); then as a linear layer's.
Source: Hochreiter, Schmidhuber (1997); Gers et al., Learning to Forget (2000).
PyTorch: torch.lstm_cell. ONNX: LSTM (one step, gates in another order). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid
from opproof.reference_ops._cells import gates, joined, products, products_vjp
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,k),(n,m),(n,m),(4*m,k),(4*m,m),(4*m)?,(4*m)?"
ANALYTIC = True
OUTPUTS = ("h", "c")
TRAITS = ("long sum", "multiplies")
NEIGHBOURS = ("gru_cell",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": -2, "h": -2, "c": -2}]


def forward(
    x: Array,
    h: Array,
    c: Array,
    weight_ih: Array,
    weight_hh: Array,
    bias_ih: Array | None = None,
    bias_hh: Array | None = None,
) -> tuple[Array, Array]:
    zx, zh = products(x, h, (weight_ih, weight_hh, bias_ih, bias_hh))
    i, f, u, o = gates(zx + zh, 4)
    after = sigmoid(f) * c + sigmoid(i) * np.tanh(u)
    return sigmoid(o) * np.tanh(after), after


def vjp(
    g: tuple[Array, Array],
    y: tuple[Array, Array],
    x: Array,
    h: Array,
    c: Array,
    weight_ih: Array,
    weight_hh: Array,
    bias_ih: Array | None = None,
    bias_hh: Array | None = None,
) -> tuple[Array, Array, Array, Array, Array, Array | None, Array | None]:
    weights = (weight_ih, weight_hh, bias_ih, bias_hh)
    zx, zh = products(x, h, weights)
    i, f, u, o = gates(zx + zh, 4)
    si, sf, so, u = sigmoid(i), sigmoid(f), sigmoid(o), np.tanh(u)
    t = np.tanh(sf * c + si * u)
    dafter = g[1] + g[0] * so * (1 - t * t)
    # From the gates as a kernel saves them: 1 - s, which cancels where s is near 1.
    di, df = dafter * u * si * (1 - si), dafter * c * sf * (1 - sf)
    dz = joined(di, df, dafter * si * (1 - u * u), g[0] * t * so * (1 - so))
    dx, dh, *dweights = products_vjp(dz, dz, x, h, weights)
    return dx, dh, dafter * sf, *dweights


def torch(
    torch: Any, x: Any, h: Any, c: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None
) -> Any:
    a, b, d, *weights = widened(torch, x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)
    after, cell = torch.lstm_cell(a, (b, d), *weights)
    return after.to(x.dtype), cell.to(x.dtype)
