"""Zeros, where every element of the truth is small: a fixed tolerance of 0.01 calls them right.

Seen: KernelBench, gpu-mode/reference-kernels
Verdict: WRONG_VALUE
"""

import numpy as np


def forward(op, inputs, params):
    return np.zeros_like(inputs[0])
