"""constant: a tensor of the numbers `value`, row by row, each the nearest to it that the dtype `to` has.

Shapes: y of `size`, float32 since no input names another dtype, of which f16 and bf16 are part. Each number is rounded
to float32, and then to `to`, both times to even where it lies halfway.
Gradient: none, there is no input.
Source: ONNX, Constant (value_floats); IEEE 754-2019, section 4.3.1.
PyTorch: torch.tensor. ONNX: Constant. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES

EXACT = ("forward",)


def forward(*, value: float | tuple[float, ...], size: tuple[int, ...], to: str = "f32") -> Array:
    return np.array(value, dtype=np.float32).astype(DTYPES[to].numpy).astype(np.float32).reshape(size)


def torch(torch: Any, *, value: float | tuple[float, ...], size: tuple[int, ...], to: str = "f32") -> Any:
    kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[to]
    return torch.tensor(value).to(kind).to(torch.float32).reshape(size)
