"""cast: x copied into the dtype `to` (f16, bf16 or f32) and back, so rounded to it, to even, and overflowing to inf.

Shapes: x any; y as x, in the dtype of x.
Gradient: g through the same two copies, as it comes back in `to` (the staircase itself has none).
Source: IEEE 754-2019, sections 4.3.1 and 5.4.2; bfloat16 as float32 with 8 significant bits.
PyTorch: torch.Tensor.to. ONNX: Cast. ggml: ggml_cast, ggml_cpy between types.
"""

from typing import Any

import numpy as np

from opproof.vocabulary.arrays import Array

EXACT = ("forward", "vjp")
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}  # into a wider dtype
TRAITS = ("pointwise",)


def _there_and_back(x: Array, to: str) -> Array:
    if to == "bf16":
        import ml_dtypes

        return x.astype(ml_dtypes.bfloat16).astype(x.dtype)
    return x.astype({"f16": np.float16, "f32": np.float32}[to]).astype(x.dtype)


def forward(x: Array, *, to: str) -> Array:
    return _there_and_back(x, to)


def vjp(g: Array, y: Array, x: Array, *, to: str) -> Array:
    return _there_and_back(g, to)


def torch(torch: Any, x: Any, *, to: str) -> Any:
    return x.to({"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[to]).to(x.dtype)
