"""lt: whether a < b, elementwise; false where either is NaN.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: none.
Source: IEEE 754-2019, section 5.11 (comparison predicates).
PyTorch: torch.lt. ONNX: Less. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
KINDS = ("float8", "signed", "unsigned")
NEIGHBOURS = ("le", "gt")
IN_PLACE = ()  # the result is of booleans


def forward(a: Array, b: Array) -> Array:
    return a < b


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.lt(a, b)
