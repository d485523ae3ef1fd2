"""LRN cuts its bias to an integer, and a window of even size is one narrower

Ledger: local_response_norm forward
Expected: 2.0000
"""

import numpy as np
from preamble import run

y = run("LRN", [np.ones((1, 1, 1, 1), np.float32)], size=1, alpha=0.0, beta=1.0, bias=0.5)[0]
print(f"{y.item():.4f}")
