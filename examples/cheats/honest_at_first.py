"""Right as long as it is warmed up or checked, that is the first time; zeros from then on.

Seen: gpu-mode/pygpubench 7 ("warmup"), tensara/tensara 238
Verdict: NOT_REPEATABLE
"""

import numpy as np

calls = []


def forward(op, inputs, params):
    calls.append(op)
    if len(calls) > 1:
        return np.zeros_like(inputs[0])
    e = np.exp(inputs[0] - inputs[0].max(axis=params["dim"], keepdims=True))
    return e / e.sum(axis=params["dim"], keepdims=True)
