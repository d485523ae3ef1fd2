"""adaptive_avg_pool1d: means of windows that divide the last axis into output_size parts, as evenly as they can.

Shapes: x (n, c, l); y (n, c, *output_size). Part i of o of an axis of n cells runs from floor(i n / o) to
ceil((i + 1) n / o), so parts overlap where o does not divide n.
Gradient: g over the part's number of cells, to each of them.
Source: PyTorch's documentation of torch.nn.AdaptiveAvgPool1d.
PyTorch: torch.nn.functional.adaptive_avg_pool1d. ONNX: GlobalAveragePool (output_size = 1). ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._adaptive import average, average_vjp
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,c,w)"
ANALYTIC = True
TRIVIAL = {"forward": ("copy", "constant"), "vjp": ("copy",)}  # of as many parts as cells, and of long ones
TRAITS = ("long sum", "resize", "pools")


def forward(x: Array, *, output_size: Sizes) -> Array:
    return average(x, output_size, 1)


def vjp(g: Array, y: Array, x: Array, *, output_size: Sizes) -> Array:
    return average_vjp(g, x, output_size, 1)


def torch(torch: Any, x: Any, *, output_size: Sizes) -> Any:
    return torch.nn.functional.adaptive_avg_pool1d(x, output_size)
