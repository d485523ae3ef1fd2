"""pixel_unshuffle: every block of r by r cells becomes r² channels.

Shapes: x (n, c, h r, w r); y (n, c r², h, w) with y[:, (c r + i) r + j, h, w] = x[:, c, h r + i, w r + j].
Gradient: g put back into cells.
Source: Shi et al., Real-Time Single Image and Video Super-Resolution (2016), equation 4, backwards.
PyTorch: torch.nn.functional.pixel_unshuffle. ONNX: SpaceToDepth (channels in another order). ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import pixel_shuffle

SIGNATURE = "(n,c,h*downscale_factor,w*downscale_factor)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, downscale_factor: int) -> Array:
    n, c, h, w = x.shape
    r = downscale_factor
    if h % r or w % r:
        raise ValueError(f"planes of {h} by {w} are no blocks of {r} by {r}")
    made = (n, c * r * r, h // r, w // r)
    return pixel_shuffle.vjp(x, x, x.reshape(made), upscale_factor=r)


def vjp(g: Array, y: Array, x: Array, *, downscale_factor: int) -> Array:
    return pixel_shuffle.forward(g, upscale_factor=downscale_factor)


def torch(torch: Any, x: Any, *, downscale_factor: int) -> Any:
    return torch.nn.functional.pixel_unshuffle(x, downscale_factor)
