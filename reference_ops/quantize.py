"""quantize: blocks of quantised bytes that stand for x as nearly as ggml's reference quantiser makes them, bit for bit.

Shapes: x (..., values), whole blocks of ggml's `type`; y (..., bytes) uint8. Computed in float32 whatever x is. Types:
q4_0, q4_1, q5_0, q5_1, q8_0, tq1_0, tq2_0, mxfp4, which the gguf package encodes, and q8_1.
Gradient: none, bytes have none.
Source: the gguf package, whose encoder is the reference; ggml-quants.c, quantize_row_*_ref.
PyTorch: none. ONNX: QuantizeLinear (of q8_0-like blocks). ggml: ggml_cast, ggml_cpy to a quantised type.
"""

from opproof.core.arrays import Array
from opproof.reference_ops._quant import encode

SIGNATURE = "(...,q*block)"
EXACT = ("forward",)


def forward(x: Array, *, type: str) -> Array:
    return encode(x, type)
