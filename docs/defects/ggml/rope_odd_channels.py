"""ggml_rope of an odd number of channels writes one element behind each row, and behind the tensor

The channels that do not turn are copied in pairs. Behind the input, which is a view of four 7s, stands a 7, and then
behind the result, where nothing was.

Ledger: rope forward, rope gradient, rope_back forward
Expected: 0.0
"""

import ctypes

import numpy as np
from preamble import call, computed, ggml, tensor, view

y = ggml("rope", view(tensor(np.full(4, 7.0)), (1, 1, 3), (3, 3, 1)), tensor([0], "int32"), 2, 2)
computed(y)
print(ctypes.c_float.from_address(call("ggml_get_data", y).value + 12).value)
