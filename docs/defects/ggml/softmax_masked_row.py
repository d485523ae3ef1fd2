"""soft_max of a row that is masked throughout is NaN, and so are its gradients

Ledger: softmax_ext gradient, softmax_ext forward
Expected: [0.0, 0.0]
"""

import numpy as np
from preamble import computed, ggml, tensor

mask = tensor([[-np.inf, -np.inf]])
print(computed(ggml("soft_max_ext", tensor([[1.0, 2.0]]), mask, 1.0, 0.0)).tolist())
