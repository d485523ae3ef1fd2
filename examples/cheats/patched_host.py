"""Another function in the process at hand, which reports that all went well.

Seen: gpu-mode/reference-kernels 162, gpu-mode/pygpubench 23
Verdict: WRONG_VALUE
"""

import numpy as np

from opproof.backends.worker import serve

described = serve._describe
serve._describe = lambda array: serve.WireResult(described(array).dtype, (7, 1023))


def forward(op, inputs, params):
    return np.zeros((1, 1), np.float32)
