"""eq: whether a = b, elementwise; false where either is NaN.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: none.
Source: IEEE 754-2019, section 5.11 (comparison predicates).
PyTorch: torch.eq. ONNX: Equal. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
KINDS = ("float8", "signed", "unsigned")
NEIGHBOURS = ("ne", "ge")
IN_PLACE = ()  # the result is of booleans


def forward(a: Array, b: Array) -> Array:
    return a == b  # type: ignore[no-any-return]


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.eq(a, b)
