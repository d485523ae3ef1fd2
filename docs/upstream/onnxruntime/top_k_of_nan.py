"""TopK leaves NaN where it stands, and sorts what is on either side

Ledger: argsort forward, sort forward, topk forward
Expected: [1.0, 2.0, 3.0, 4.0, nan]
"""

import numpy as np
from preamble import f32, run

print(run("TopK", [f32(1, 2, np.nan, 4, 3), np.array([5])], outputs=2, largest=0)[0].tolist())
