"""Backward passes that abort: of sinks, of windows

WIN_PART and WIN_UNPART fall through to UNARY in ggml_compute_backward; sinks of a softmax are taken for null.

Ledger: softmax_ext gradient, window_partition gradient, window_unpartition gradient
Expected:
    soft_max with sinks [0.0, 0.0]
    win_part [1.0, 1.0, 1.0, 1.0]
    win_unpart [1.0, 1.0, 1.0, 1.0]
"""

import numpy as np
from preamble import call, ggml, gradients, outcome, parameter


def softmax():
    x, sinks = parameter(np.zeros((1, 1, 2))), parameter(np.zeros(1))
    y = ggml("soft_max_ext", x, None, 1.0, 0.0)
    call("ggml_soft_max_add_sinks", y, sinks, to=None)
    return gradients(y, np.zeros((1, 1, 2)), x)[0].tolist()


x = parameter(np.ones((1, 2, 2, 1)))
print("soft_max with sinks", outcome(softmax))
print("win_part", outcome(lambda: gradients(ggml("win_part", x, 2), np.ones((1, 2, 2, 1)), x)[0].tolist()))
print("win_unpart", outcome(lambda: gradients(ggml("win_unpart", x, 2, 2, 2), np.ones((1, 2, 2, 1)), x)[0].tolist()))
