"""ggml_conv_1d of a batch mixes images and channels

It reshapes (channels, batch, length) to (batch, channels, length).

Ledger: conv1d forward
Upstream: https://github.com/ggml-org/llama.cpp/pull/28738
Expected: [1.0, 10.0, 2.0, 20.0]
"""

from preamble import computed, ggml, tensor

kernel = tensor([[[1.0]], [[10.0]]], "float16")
print(computed(ggml("conv_1d", kernel, tensor([[[1.0]], [[2.0]]]), 1, 0, 1)).tolist())
