"""dequantize: the values that blocks of quantised bytes stand for.

Shapes: data (..., bytes) uint8, whole blocks of ggml's `type` (q4_0, q8_0, q4_k, mxfp4, ...); y (..., values), float32
since no input names another dtype.
Gradient: none, bytes have none.
Source: the gguf package, whose decoder is the reference; ggml-common.h documents the blocks.
PyTorch: none. ONNX: DequantizeLinear (of q8_0-like blocks). ggml: ggml_cast, ggml_cpy from a quantised type.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._quant import blocks, decode

SIGNATURE = "(...,q*size)"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"data": blocks(params["type"])}


def forward(data: Array, *, type: str) -> Array:
    return np.asarray(decode(data, type))
