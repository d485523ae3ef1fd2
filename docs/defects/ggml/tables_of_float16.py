"""gelu and geglu of float32 are looked up in a table of float16

Results under 2^-24 are 0, all others have three digits.

Ledger: gelu forward, geglu forward
Upstream: https://github.com/ggml-org/llama.cpp/issues/29252
Expected: 1.10033
"""

from preamble import computed, ggml, tensor

print(f"{computed(ggml('gelu', tensor([1.2345])))[0]:.5f}")
