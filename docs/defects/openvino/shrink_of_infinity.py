"""Shrink of an infinity is NaN

Ledger: hardshrink forward, softshrink forward
Expected: [inf]
"""

import numpy as np
from preamble import f32, run

print(run("Shrink", [f32(np.inf)], lambd=0.5, bias=0.0)[0].tolist())
