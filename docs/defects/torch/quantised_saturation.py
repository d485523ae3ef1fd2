"""Quantised products of bytes saturate: 255 * 127 + 255 * 127 is 32767 in the sum of a pair

vpmaddubsw adds pairs in 16 bits, where the processor has no VNNI; `reduce_range` of the observers avoids it.

Ledger: qlinear_matmul forward, qlinear_conv forward
Unless: vnni
Upstream: https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
Expected: 253
"""

import torch

codes = torch.full((16, 16), 127, dtype=torch.int8)
weight = torch._make_per_tensor_quantized_tensor(codes, 1.0, 0)  # noqa: SLF001
x = torch.quantize_per_tensor(torch.full((16, 16), 255.0), 1.0, 0, torch.quint8)
layer = torch.ops.quantized.linear_prepack(weight, None)
print(torch.ops.quantized.linear(x, layer, 2048.0, 0).int_repr()[0, 0].item())
