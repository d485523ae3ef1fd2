"""No judge, no verdict.

Seen: opproof's own attack
Verdict: ERROR
"""

import os
import signal

import numpy as np


def forward(op, inputs, params):
    os.kill(os.getppid(), signal.SIGKILL)
    return np.zeros_like(inputs[0])
