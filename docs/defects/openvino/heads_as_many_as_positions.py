"""Attention of as many heads as positions is wrong where it is fused with the transposes before it

What is asked is softmax(q kᵀ) v of products that are reshaped into heads and transposed.

Ledger: scaled_dot_product_attention forward
Expected:
    3 heads, 3 positions: right
    3 heads, 4 positions: right
"""

import numpy as np
import openvino
from openvino import opset13 as ops
from preamble import CONFIG

rng = np.random.default_rng(0)
for positions in (3, 4):
    x, *weights = arrays = [rng.standard_normal(s, np.float32) for s in ((1, positions, 8), *[(8, 12)] * 3)]
    given = [ops.parameter(a.shape, np.float32) for a in arrays]
    parts, want = [], []
    for node, w, perm in zip(given[1:], weights, ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)), strict=True):
        shape = [1, positions, 3, 4]
        parts.append(ops.transpose(ops.reshape(ops.matmul(given[0], node, False, False), shape, False), perm))
        want.append((x @ w).reshape(shape).transpose(perm))
    shares = ops.softmax(ops.matmul(parts[0], parts[1], False, False), -1)
    model = openvino.Model([ops.matmul(shares, parts[2], False, False)], given)
    (got,) = openvino.compile_model(model, "CPU", CONFIG)(arrays).values()
    e = np.exp(want[0] @ want[1])
    error = np.abs(got - e / e.sum(axis=-1, keepdims=True) @ want[2]).max()
    print(f"3 heads, {positions} positions: {'wrong' if error > 0.01 else 'right'}")
