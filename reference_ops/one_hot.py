"""one_hot: a 1 at the place that the index names, zeros elsewhere.

Shapes: index any, integers in [0, num_classes); y int64 with an axis of num_classes behind.
Gradient: none, the input is an index.
Source: PyTorch's documentation of torch.nn.functional.one_hot.
PyTorch: torch.nn.functional.one_hot. ONNX: OneHot. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...); num_classes=c"
EXACT = ("forward",)
TRAITS = ("indexed",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"index": range(params["num_classes"])}


def forward(index: Array, *, num_classes: int) -> Array:
    return (index[..., None] == np.arange(num_classes)).astype(np.int64)  # type: ignore[no-any-return]


def torch(torch: Any, index: Any, *, num_classes: int) -> Any:
    return torch.nn.functional.one_hot(index, num_classes)
