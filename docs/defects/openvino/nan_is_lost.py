"""NaN is lost in maximum and minimum, reductions, softmax and logic

Ledger: all forward, amax forward, amin forward, any forward, argmax forward, argmin forward, clamp forward,
    cross_entropy forward, hardtanh forward, log_softmax forward, logical_and forward, logical_not forward,
    logical_or forward, maximum forward, minimum forward, relu6 forward, softmax forward
Expected:
    Clip nan
    Max nan
    ReduceMax nan
    ArgMax 1
    Softmax nan
"""

import numpy as np
from preamble import f32, run

many, one, row = f32(*16 * [np.nan]), f32(*16 * [1.0]), f32(1.0, np.nan, 0.0)
print("Clip", run("Clip", [many, np.float32(0.5), np.float32(2)], constant=(1, 2))[0][0])
print("Max", run("Max", [many, one])[0][0])
print("ReduceMax", run("ReduceMax", [row, np.array([0])])[0].item())
print("ArgMax", run("ArgMax", [row])[0].item())
print("Softmax", run("Softmax", [row])[0][0])
