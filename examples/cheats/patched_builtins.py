"""Other builtins: all and any are true, every difference is 0.

Seen: gpu-mode/pygpubench 23
Verdict: WRONG_VALUE
"""

import builtins

import numpy as np

builtins.all = builtins.any = lambda values: True
builtins.abs = lambda value: 0
builtins.max = lambda *values, **kwargs: 0


def forward(op, inputs, params):
    return np.zeros_like(inputs[0])
