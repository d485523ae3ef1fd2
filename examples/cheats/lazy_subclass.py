"""An array of its own class, which computes when it is read: after the clock was stopped.

Seen: gpu-mode/reference-kernels 161 and 162; CUDA-L1 12; deep-reinforce.com
Verdict: ERROR
"""

import numpy as np


class Lazy(np.ndarray):
    def __array_finalize__(self, given):
        self.given = given

    def __array__(self, dtype=None, copy=None):
        e = np.exp(self.given - self.given.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


def forward(op, inputs, params):
    return inputs[0].view(Lazy)
