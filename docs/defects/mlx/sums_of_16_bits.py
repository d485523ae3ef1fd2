"""Sums over many terms stop growing in 16 bits: softmax, equal indices, logcumsumexp, the mean of var

A float16 sum of ones stops at 2048. `precise=True` of softmax is right.

Ledger: softmax forward, softmax gradient, index_add forward, scatter_add forward, index_select gradient,
    add_id gradient, embedding gradient, gather gradient, take_along_dim gradient, logcumsumexp forward, var
    gradient
Upstream: https://github.com/ml-explore/mlx/pull/4178
Expected:
    softmax adds up to 1.0
    at[].add 4096.0
    take 4096.0
    logcumsumexp 5.72
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
probabilities = mx.softmax(mx.zeros((768,), mx.bfloat16)).astype(mx.float32)
print("softmax adds up to", round(probabilities.sum().item(), 1))
index, ones = mx.zeros((4096,), mx.int32), mx.ones((4096,), mx.float16)
print("at[].add", mx.zeros((1,), mx.float16).at[index].add(ones).item())
_, (gradient,) = mx.vjp(lambda x: mx.take(x, index), [mx.zeros((1,), mx.float16)], [ones])
print("take", gradient.item())
print("logcumsumexp", round(mx.logcumsumexp(mx.zeros((300,), mx.bfloat16))[-1].item(), 2))
