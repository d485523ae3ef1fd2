"""count_equal: at how many places a and b hold the same number.

Shapes: a and b alike, integers; y () int64.
Gradient: none, the output is a number of places.
Source: the definition.
PyTorch: none (torch.sum of torch.eq). ONNX: none. ggml: ggml_count_equal.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...),(...)"
EXACT = ("forward",)
TRAITS = ("rowwise",)
KINDS = ("signed", "unsigned")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": range(4), "b": range(4)}


def forward(a: Array, b: Array) -> Array:
    return np.sum(a == b)  # type: ignore[no-any-return]


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.sum(torch.eq(a, b))
