"""LogSoftmax of float64: rows with NaN or infinity hold finite numbers

The exponential of NaN is a number where it is computed for several elements at a time.

Ledger: log_softmax forward
Expected:
    NaN nan
    infinity nan
"""

import numpy as np
from preamble import run

for name, value in (("NaN", np.nan), ("infinity", np.inf)):
    x = np.zeros((1, 100))
    x[0, 86] = value
    (y,) = run("LogSoftmax", [x], axis=-1)
    print(name, round(float(y[0, 0]), 1))
