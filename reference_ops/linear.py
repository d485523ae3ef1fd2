"""linear: x weightᵀ + bias.

Shapes: x (..., k), weight (n, k), bias (n,) or none; y (..., n).
Gradient: dx = g weight, dweight = gᵀ x and dbias = g, both summed over all leading axes.
Source: Giles, Collected matrix derivative results for forward and reverse mode AD (2008), 2.2.2.
PyTorch: torch.nn.functional.linear. ONNX: Gemm (transB). ggml: ggml_mul_mat (weight first, no bias).
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,k),(n,k),(n)?"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum", "multiplies")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    rows = [{"x": -k, "y": -k} for k in range(len(shapes["x"]), 1, -1)]
    return [*rows, {"weight": -2, "bias": -1, "y": -1}]


def forward(x: Array, weight: Array, bias: Array | None = None) -> Array:
    y = np.matmul(x, np.swapaxes(weight, 0, 1))
    return y if bias is None else y + bias  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, weight: Array, bias: Array | None = None) -> tuple[Array, Array, Array | None]:
    rows = math.prod(x.shape[:-1])
    g2, x2 = np.reshape(g, (rows, weight.shape[0])), np.reshape(x, (rows, weight.shape[1]))
    dbias = None if bias is None else np.sum(g2, axis=0)
    return np.matmul(g, weight), np.matmul(np.swapaxes(g2, 0, 1), x2), dbias


def torch(torch: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    return torch.nn.functional.linear(x, weight, bias)
