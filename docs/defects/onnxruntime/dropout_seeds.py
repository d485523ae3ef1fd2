"""Dropout with seed 0 drops the elements that seed 1 drops

Its generator is one whose state 0 is taken for 1.

Ledger: dropout forward
Expected: [False, False]
"""

import numpy as np
from preamble import run


def dropped(seed):
    (y,) = run("Dropout", [np.ones(4096, np.float32), np.float32(0.5), np.array(True)], opset=13, seed=seed)
    return y == 0


print([bool((dropped(0) == dropped(seed)).all()) for seed in (1, 2)])
