"""causal_conv1d: the convolution of each channel with weights of its own over what came before, then silu.

z[c, t] = bias[c] + sum_j x[c, t - (k - 1) + j] weight[c, j], x zero before its begin; y = z sigmoid(z), or z where
activation is "none".
Shapes: x (n, channels, tokens), weight (channels, k), bias (channels,) or none; y as x.
Gradient: with h = g silu'(z), or g: dx[c, t] = the sum of h[c, t + k - 1 - j] weight[c, j], dweight[c, j] = the sum of
h[c, t] x[c, t - (k - 1) + j], dbias = h summed over n and tokens.
Source: Gu, Dao, Mamba (2023), section 3.4; the causal_conv1d of its authors.
PyTorch: none (torch.nn.functional.conv1d, groups = channels, and silu). ONNX: none. ggml: none (ggml_ssm_conv, silu).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import silu, ssm_conv
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,c,t),(c,k<9),(c)?"
ANALYTIC = True
TRAITS = ("long sum", "channels")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": -3, "y": -3}, {"x": -2, "weight": -2, "bias": -1, "y": -2}]


def _padded(x: Array, weight: Array) -> Array:
    return np.pad(x, ((0, 0), (0, 0), (weight.shape[1] - 1, 0)))


def _sums(x: Array, weight: Array, bias: Array | None) -> Array:
    z = np.swapaxes(ssm_conv.forward(_padded(x, weight), weight), 1, 2)
    return z if bias is None else z + bias[:, None]


def forward(x: Array, weight: Array, bias: Array | None = None, *, activation: str = "silu") -> Array:
    if not weight.size:
        raise ValueError(f"a convolution asks for a kernel, weight is of {weight.shape}")
    z = _sums(x, weight, bias)
    return silu.forward(z) if activation == "silu" else z


def vjp(
    g: Array, y: Array, x: Array, weight: Array, bias: Array | None = None, *, activation: str = "silu"
) -> tuple[Array, Array, Array | None]:
    h = silu.vjp(g, y, _sums(x, weight, bias)) if activation == "silu" else g
    dpadded, dweight = ssm_conv.vjp(np.swapaxes(h, 1, 2), y, _padded(x, weight), weight)
    return dpadded[:, :, weight.shape[1] - 1 :], dweight, None if bias is None else np.sum(h, axis=(0, 2))


def torch(torch: Any, x: Any, weight: Any, bias: Any = None, *, activation: str = "silu") -> Any:
    f, (a, w, b) = torch.nn.functional, widened(torch, x, weight, bias)
    z = f.conv1d(f.pad(a, (w.shape[1] - 1, 0)), w[:, None], b, groups=x.shape[1])
    return (f.silu(z) if activation == "silu" else z).to(x.dtype)
