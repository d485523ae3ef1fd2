"""adaptive_max_pool3d: the largest elements of windows that divide the last three axes into output_size parts.

Shapes: x (n, c, d, h, w); y (n, c, *output_size) and indices int64 of the same shape, the winner's position in what is
divided, row by row; the first among ties. Part i of o of an axis of n cells runs from floor(i n / o) to
ceil((i + 1) n / o), so parts overlap where o does not divide n.
Gradient: g to the winner of each part, summed where it won several.
Kinks: ties inside a part.
Source: PyTorch's documentation of torch.nn.AdaptiveMaxPool3d.
PyTorch: torch.nn.functional.adaptive_max_pool3d (return_indices). ONNX: GlobalMaxPool (output_size = 1). ggml: none.
"""

from collections.abc import Iterator
from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._adaptive import largest, largest_kinks, largest_vjp, largest_with_nan
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,c,d<17,h<33,w)"
EXACT = ("forward",)
OUTPUTS = ("y", "indices")
ON_REQUEST = ("indices",)
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}  # of as many parts as cells
TRAITS = ("ordered", "resize", "pools")


def forward(x: Array, *, output_size: Sizes) -> tuple[Array, Array]:
    return largest(x, output_size, 3)


def conventions(x: Array, *, output_size: Sizes) -> Iterator[tuple[Array, Array]]:
    return largest_with_nan(x, output_size, 3)


def vjp(g: tuple[Array, Any], y: tuple[Array, Array], x: Array, *, output_size: Sizes) -> Array:
    return largest_vjp(g[0], x, output_size, 3)


def kinks(x: Array, *, output_size: Sizes) -> Array:
    return largest_kinks(x, output_size, 3)


def torch(torch: Any, x: Any, *, output_size: Sizes) -> Any:
    return torch.nn.functional.adaptive_max_pool3d(x, output_size, return_indices=True)
