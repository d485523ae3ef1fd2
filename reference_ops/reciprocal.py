"""reciprocal: 1 / x.

Shapes: x any; y as x.
Gradient: from the saved output, -g y².
Source: elementary.
PyTorch: torch.reciprocal. ONNX: Reciprocal. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise", "jumps at zero")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": "nonzero"}


def forward(x: Array) -> Array:
    return 1 / x


def vjp(g: Array, y: Array, x: Array) -> Array:
    return -g * (y * y)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.reciprocal(x)
