"""NaN is lost in activations, maximum and minimum, reductions, pooling, softmax and logic

Ledger: all forward, amax forward, amin forward, any forward, argmax forward, argmin forward, clamp forward,
    cross_entropy forward, exp forward, hardsigmoid forward, hardtanh forward, log_softmax forward,
    logical_and forward, logical_not forward, logical_or forward, logsumexp forward, maximum forward, minimum
    forward, relu forward, relu6 forward, softmax forward, max_pool1d forward, max_pool2d forward, max_pool3d
    forward
Upstream: https://github.com/openvinotoolkit/openvino/issues/35649
Expected:
    Relu nan
    HardSigmoid nan
    Exp nan
    Clip nan
    Max nan
    ReduceMax nan
    ArgMax 1
    MaxPool nan
    Softmax nan
"""

import numpy as np
from preamble import f32, run

many, one, row = f32(*16 * [np.nan]), f32(*16 * [1.0]), f32(1.0, np.nan, 0.0)
for op in ("Relu", "HardSigmoid", "Exp"):
    print(op, run(op, [many])[0][0])
print("Clip", run("Clip", [many, np.float32(0.5), np.float32(2)], constant=(1, 2))[0][0])
print("Max", run("Max", [many, one])[0][0])
print("ReduceMax", run("ReduceMax", [row, np.array([0])])[0].item())
print("ArgMax", run("ArgMax", [row])[0].item())
print("MaxPool", run("MaxPool", [row.reshape(1, 1, 3)], kernel_shape=[3])[0].item())
print("Softmax", run("Softmax", [row])[0][0])
