"""pixel_shuffle: every r² channels become one channel of r times the height and width.

Shapes: x (n, c r², h, w); y (n, c, h r, w r) with y[:, c, h r + i, w r + j] = x[:, (c r + i) r + j, h, w].
Gradient: g put back into channels.
Source: Shi et al., Real-Time Single Image and Video Super-Resolution (2016), equation 4.
PyTorch: torch.nn.functional.pixel_shuffle. ONNX: DepthToSpace (mode = CRD). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(n,c*upscale_factor*upscale_factor,h,w)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, upscale_factor: int) -> Array:
    n, c, h, w = x.shape
    r = upscale_factor
    apart = np.reshape(x, (n, c // (r * r), r, r, h, w))
    return np.reshape(np.transpose(apart, (0, 1, 4, 2, 5, 3)), (n, c // (r * r), h * r, w * r))


def vjp(g: Array, y: Array, x: Array, *, upscale_factor: int) -> Array:
    n, c, h, w = x.shape
    r = upscale_factor
    apart = np.reshape(g, (n, c // (r * r), h, r, w, r))
    return np.reshape(np.transpose(apart, (0, 1, 3, 5, 2, 4)), x.shape)


def torch(torch: Any, x: Any, *, upscale_factor: int) -> Any:
    return torch.nn.functional.pixel_shuffle(x, upscale_factor)
