"""Dropout with seed 0 drops what seed 1 drops, and seed 2 half of what seed 1 drops

The generator, of Multinomial and RandomUniform too, is std::minstd_rand0, which takes the state 0 for 1. The numbers
of seed 2 are twice those of seed 1, modulo 1.

Ledger: dropout forward, multinomial forward, random_normal forward, random_uniform forward
Expected:
    [False, False]
    0.01
"""

import numpy as np
from preamble import run


def dropped(seed, ratio=0.5):
    (y,) = run("Dropout", [np.ones(4096, np.float32), np.float32(ratio), np.array(True)], opset=13, seed=seed)
    return y == 0


print([bool((dropped(0) == dropped(seed)).all()) for seed in (1, 2)])
print(round(float((dropped(1, 0.1) & dropped(2, 0.1)).mean()), 2))
