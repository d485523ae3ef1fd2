"""layer_normalization of rows with gaps between them reads them as if they had none

Ledger: layer_norm forward, layer_norm gradient
Expected: 0.00
"""

import numpy as np
from preamble import layer_norm

x = np.random.default_rng(0).standard_normal((8, 128)).astype(np.float32)[::2]
rows = np.ascontiguousarray(x)
print(f"{np.abs(layer_norm(x) - layer_norm(rows)).max():.2f}")
