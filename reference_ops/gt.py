"""gt: whether a > b, elementwise; false where either is NaN.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: none.
Source: IEEE 754-2019, section 5.11 (comparison predicates).
PyTorch: torch.gt. ONNX: Greater. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
KINDS = ("float8", "signed", "unsigned")
NEIGHBOURS = ("ge", "lt")
IN_PLACE = ()  # the result is of booleans


def forward(a: Array, b: Array) -> Array:
    return a > b


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.gt(a, b)
