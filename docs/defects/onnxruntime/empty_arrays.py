"""Empty arrays: booleans are refused, an empty batch of a loss, or of what is drawn, too

Ledger: all forward, any forward, cross_entropy forward, multinomial forward, scan forward
Expected:
    ReduceMax (1,)
    SoftmaxCrossEntropyLoss 0.0
    Multinomial (0, 4)
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
tried(
    "SoftmaxCrossEntropyLoss",
    lambda: run("SoftmaxCrossEntropyLoss", [rows, np.zeros(0, np.int64)], reduction="sum")[0].item(),
)
tried("Multinomial", lambda: run("Multinomial", [rows], sample_size=4)[0].shape)
