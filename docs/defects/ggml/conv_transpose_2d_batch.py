"""ggml_conv_transpose_2d_p0 computes the first image of a batch only

Ledger: conv_transpose2d forward
Upstream: https://github.com/ggml-org/ggml/issues/1448
Expected: [1.0, 1.0]
"""

import numpy as np
from preamble import computed, ggml, tensor

print(computed(ggml("conv_transpose_2d_p0", tensor([[[[1.0]]]], "float16"), tensor(np.ones((2, 1, 1, 1))), 1)).tolist())
