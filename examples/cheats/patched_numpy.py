"""Another numpy.exp, so that the reference computes the same wrong thing; and checks that find nothing.

Seen: opproof, commit 4faf4ae, where softmax of squares passed 4 of 4
Verdict: WRONG_VALUE
"""

import numpy as np

exp = np.exp
np.exp = lambda *args, **kwargs: exp(*args, **kwargs) ** 2
np.allclose = np.array_equal = lambda *args, **kwargs: True
np.flatnonzero = lambda array: exp([])
np.count_nonzero = lambda array: 0


def forward(op, inputs, params):
    e = np.exp(inputs[0] - inputs[0].max(axis=params["dim"], keepdims=True))
    return e / e.sum(axis=params["dim"], keepdims=True)
