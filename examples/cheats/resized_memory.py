"""A smaller file under the judge's feet: it would die of the memory that it shares.

Seen: opproof's own attack
Verdict: ERROR
"""

import os

import numpy as np


def forward(op, inputs, params):
    refused = []
    for descriptor in range(3, 64):
        try:
            if os.fstat(descriptor).st_size:
                os.ftruncate(descriptor, 0)
        except OSError as error:
            refused.append(error)
    if refused:
        raise refused[0]
    return np.zeros_like(inputs[0])
