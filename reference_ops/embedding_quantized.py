"""embedding_quantized: the rows of a quantised matrix at the indices, decoded.

Shapes: weight (rows, bytes) uint8, each row whole blocks of ggml's `type`; indices any, integers in [0, rows);
y (*indices, values), float32 since no input names another dtype.
Gradient: none, neither input has one.
Source: ggml.h, ggml_get_rows with a quantised first argument; the gguf package for the blocks.
PyTorch: none. ONNX: GatherBlockQuantized (of q4_0-like blocks). ggml: ggml_get_rows.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._quant import blocks, decode

SIGNATURE = "(r,q*size),(...)"
TRAITS = ("indexed",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"weight": blocks(params["type"]), "indices": range(shapes["weight"][0])}


def forward(weight: Array, indices: Array, *, type: str) -> Array:
    return np.asarray(decode(weight, type)[indices])
