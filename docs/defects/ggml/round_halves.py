"""ggml_round takes halves away from zero, where ONNX, PyTorch and NumPy take them to even

It is C's round, not rint.

Ledger: round forward
Expected: [0.0, 2.0, 2.0]
"""

from preamble import computed, ggml, tensor

print(computed(ggml("round", tensor([0.5, 1.5, 2.5]))).tolist())
