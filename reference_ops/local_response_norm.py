"""local_response_norm: x / b^beta with b = k + alpha / size times the sum of x² over `size` neighbouring channels.

Shapes: x (n, c, *); y as x. Of the neighbours, size // 2 stand before a channel, (size - 1) // 2 behind.
Gradient: g b^-beta - 2 alpha beta / size x sum(g x b^(-beta - 1)) over the channels that see x.
Source: Krizhevsky, Sutskever, Hinton, ImageNet Classification (2012), section 3.3, alpha divided by size as PyTorch.
PyTorch: torch.nn.functional.local_response_norm. ONNX: LRN. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(n,c,...)"
ANALYTIC = True
TRAITS = ("rowwise", "long sum")
IN_PLACE = ("x",)


def _gathered(v: Array, before: int, behind: int) -> Array:
    """The sum over each channel's window, `before` channels ahead of it and `behind` after."""
    c = v.shape[1]
    if not c:
        return v
    if before + behind < c:  # a window at once for all channels; beyond the last ones nothing is added
        wide = np.zeros((v.shape[0], before + c + behind, *v.shape[2:]), dtype=v.dtype, like=v)
        wide[:, before : before + c] = v
        return np.sum(np.stack([wide[:, i : i + c] for i in range(before + behind + 1)]), axis=0)  # type: ignore[no-any-return]
    windows = [np.sum(v[:, max(i - before, 0) : i + behind + 1], axis=1) for i in range(c)]
    return np.stack(windows, axis=1)


def forward(x: Array, *, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Array:
    b = k + alpha / size * _gathered(x * x, size // 2, (size - 1) // 2)
    return x / b**beta


def vjp(g: Array, y: Array, x: Array, *, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Array:
    b = k + alpha / size * _gathered(x * x, size // 2, (size - 1) // 2)
    shares = _gathered(g * x * b ** (-beta - 1), (size - 1) // 2, size // 2)
    return g / b**beta - 2 * alpha * beta / size * x * shares


def torch(torch: Any, x: Any, *, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    return torch.nn.functional.local_response_norm(x, size, alpha, beta, k)
