"""TopK does not give equal elements the lower index first, as ONNX says

Ledger: argsort forward, sort forward, topk forward
Expected: True
"""

import numpy as np
from preamble import run

x = np.random.default_rng(0).integers(0, 3, (33, 5)).astype(np.float32)
_, order = run("TopK", [x, np.array([33])], outputs=2, axis=0, largest=0, constant=(1,))
print(bool((order == np.argsort(x, axis=0, kind="stable")).all()))
