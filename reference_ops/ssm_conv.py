"""ssm_conv: the short causal convolution before a state space: each channel with weights of its own.

Shapes: x (n, channels, k - 1 + tokens), the first k - 1 the end of what came before; weight (channels, k);
y (n, tokens, channels) with y[t, c] = sum_j x[c, t + j] weight[c, j].
Gradient: dx[c, t + j] = the sum of g[t, c] weight[c, j]; dweight[c, j] = the sum of g[t, c] x[c, t + j].
Source: Gu, Dao, Mamba (2023), section 3.4; ggml.h, ggml_ssm_conv.
PyTorch: torch.nn.functional.conv1d (groups = channels), transposed. ONNX: Conv. ggml: ggml_ssm_conv.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(n,c,k+t-1),(c,k<9)"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum", "channels")


def _windows(x: Array, k: int) -> Array:
    """(n, channels, tokens, k)."""
    return np.lib.stride_tricks.sliding_window_view(x, k, axis=2)


def forward(x: Array, weight: Array) -> Array:
    if not weight.size:
        raise ValueError(f"a convolution asks for a kernel, weight is of {weight.shape}")
    return np.einsum("nctk,ck->ntc", _windows(x, weight.shape[1]), weight)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, weight: Array) -> tuple[Array, Array]:
    k = weight.shape[1]
    wide = np.pad(np.swapaxes(g, 1, 2), ((0, 0), (0, 0), (k - 1, k - 1)))
    dx = np.einsum("nctk,ck->nct", _windows(wide, k), weight[:, ::-1])
    return dx, np.einsum("ntc,nctk->ck", g, _windows(x, k))


def torch(torch: Any, x: Any, weight: Any) -> Any:
    return torch.nn.functional.conv1d(x, weight[:, None], groups=x.shape[1]).transpose(1, 2)
