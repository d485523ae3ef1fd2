"""A thread that computes while the answer is already given: the stream, or the core, that no clock waits for.

Seen: deep-reinforce.com ("thread injection", "stream injection"), ScalingIntelligence/KernelBench 82
Verdict: NOT_WRITTEN
"""

import threading
import time

import numpy as np


def forward_into(op, inputs, params, outputs):
    threading.Thread(target=_computed, args=(inputs[0].copy(), params["dim"], outputs[0]), daemon=True).start()


def _computed(x, dim, output):
    time.sleep(0.5)
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    output[...] = e / e.sum(axis=dim, keepdims=True)
