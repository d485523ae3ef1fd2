"""expm1 is exp(x) - 1: all digits of small results are lost

Ledger: expm1 forward
Upstream: https://github.com/ggml-org/llama.cpp/pull/23759
Expected: 1e-08
"""

from preamble import computed, ggml, tensor

print(f"{computed(ggml('expm1', tensor([1e-8])))[0]:.3g}")
