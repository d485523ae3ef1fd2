"""set_rows_quantized: quantised rows at the indices replaced by those that rows of floats become, bit for bit.

Shapes: x (..., rows, bytes) uint8, whole blocks of ggml's `type`; source (..., m, values), indices (..., m) integers in
[0, rows), no row twice, whose batch axes broadcast to those of x; y as x with y[..., indices[..., i], :] the blocks of
source[..., i, :] as `quantize` makes them. Computed in float32 whatever source is.
Gradient: none, bytes have none.
Source: ggml.h, ggml_set_rows into a quantised tensor (rows of a key-value cache); the gguf package for the blocks.
PyTorch: none. ONNX: none. ggml: ggml_set_rows.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._index import Distinct
from opproof.reference_ops._quant import blocks, encode

SIGNATURE = "(...,r,q*size),(...,m,q*block),(...,m)"
EXACT = ("forward",)
TRAITS = ("indexed",)
IN_PLACE = ("x",)
LIKE = "source"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": blocks(params["type"]), "indices": Distinct(shapes["x"][-2])}


def forward(x: Array, source: Array, indices: Array, *, type: str) -> Array:
    y = np.array(x)
    places = np.broadcast_to(indices, (*x.shape[:-2], indices.shape[-1]))
    np.put_along_axis(y, places[..., None], encode(source, type), axis=-2)
    return y
