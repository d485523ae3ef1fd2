"""Fold2D writes past its memory where windows overlap

Ledger: col2im forward
Expected: no harm
"""

import ctypes
import gc
import os

import numpy as np
from preamble import aidge, run

child = os.fork()
if not child:
    for _ in range(3):
        run(aidge.Fold2D([5, 5], [2, 2]), np.ones((2, 16, 16), np.float32))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # walks the heap
    os._exit(0)
status = os.waitpid(child, 0)[1]
print("the process dies" if os.WIFSIGNALED(status) else "no harm")
