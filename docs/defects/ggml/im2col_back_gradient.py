"""The gradient of ggml_im2col_back is missing: the graph builder takes its first input for the kernel

Ledger: col2im gradient, im2col_back gradient
Expected: [3.0]
"""

import ctypes

from preamble import ggml, gradients, parameter, tensor

columns, kernel = parameter([[[[1.0]]]]), tensor([[[[1.0]]]])
sizes = (ctypes.c_int64 * 4)(1, 1, 1, 1)
(found,) = gradients(ggml("im2col_back", columns, kernel, sizes, 1, 1, 0, 0, 1, 1, True), [[[[3.0]]]], columns)
print(None if found is None else found.tolist())
