"""GatherElements refuses indices that are smaller than the data on the other axes

Ledger: gather forward
Expected: (1, 2)
"""

import numpy as np
from preamble import run

print(run("GatherElements", [np.ones((3, 4), np.float32), np.array([[0, 1]])], axis=1)[0].shape)
