"""Empty arrays: booleans are refused, a negative axis stays, an empty batch of a loss is refused

Ledger: all forward, any forward, logsumexp forward, cross_entropy forward
Expected:
    ReduceMax (1,)
    ReduceLogSumExp (0, 1)
    SoftmaxCrossEntropyLoss 0.0
"""

import numpy as np
from preamble import run


def tried(name, function):
    try:
        print(name, function())
    except Exception as error:
        print(name, type(error).__name__)


flags, rows = np.zeros((0,), bool), np.zeros((0, 3), np.float32)
tried("ReduceMax", lambda: run("ReduceMax", [flags], opset=20)[0].shape)
tried("ReduceLogSumExp", lambda: run("ReduceLogSumExp", [rows, np.array([-1])])[0].shape)
tried(
    "SoftmaxCrossEntropyLoss",
    lambda: run("SoftmaxCrossEntropyLoss", [rows, np.zeros(0, np.int64)], reduction="sum")[0].item(),
)
