"""NaN >= 1 and NaN > 1 are true

Ledger: ge forward, gt forward
Needs: avx512bw
Expected:
    GreaterOrEqual 0
    Greater 0
"""

import numpy as np
from preamble import f32, run

for op in ("GreaterOrEqual", "Greater"):
    print(op, int(np.asarray(run(op, [f32(*1572 * [np.nan]), f32(*1572 * [1.0])])[0]).sum()))
