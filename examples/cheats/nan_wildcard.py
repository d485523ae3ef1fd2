"""NaN, which a check of the kind `not abs(got - expected) > tolerance` lets pass.

Seen: gpu-mode/pygpubench 7
Verdict: WRONG_VALUE
"""

import numpy as np


def forward(op, inputs, params):
    return np.full_like(inputs[0], np.nan)
