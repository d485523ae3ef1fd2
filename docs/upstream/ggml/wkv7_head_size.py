"""ggml_rwkv_wkv7 works in vectors of 32 without a rest: heads of other sizes read and write behind them

Ledger: wkv7 forward
Expected: [4.0, 4.0, 4.0, 4.0]
"""

import numpy as np
from preamble import computed, ggml, outcome, tensor


def y():
    r, w, k, v = (tensor(np.ones((1, 1, 4))) for _ in range(4))
    a, b = (tensor(np.zeros((1, 1, 4))) for _ in range(2))
    return computed(ggml("rwkv_wkv7", r, w, k, v, a, b, tensor(np.zeros((1, 16)))))[:4].tolist()


print(outcome(y))
