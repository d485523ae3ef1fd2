"""ggml_roll of an empty axis aborts: no shift is less than its size

Ledger: roll forward, roll gradient
Expected: []
"""

import numpy as np
from preamble import computed, ggml, outcome, tensor

print(outcome(lambda: computed(ggml("roll", tensor(np.zeros((3, 0))), 0, 0, 0, 0)).tolist()))
