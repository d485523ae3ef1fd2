"""ggml_argmax takes the last of equal elements, and passes over NaN

CUDA and PyTorch take the first, and the first NaN.

Ledger: argmax forward
Upstream: https://github.com/ggml-org/llama.cpp/pull/25032
Expected:
    (3, 1, 3) 0
    (1, nan, 0) 1
"""

from preamble import computed, ggml, tensor

print("(3, 1, 3)", computed(ggml("argmax", tensor([[3.0, 1.0, 3.0]])))[0])
print("(1, nan, 0)", computed(ggml("argmax", tensor([[1.0, float("nan"), 0.0]])))[0])
