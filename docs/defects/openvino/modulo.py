"""Mod is a - b trunc(a / b) of a rounded quotient: NaN by an infinite divisor, and digits are lost

Ledger: fmod forward
Expected: [1.0, 6.0]
"""

import numpy as np
from preamble import f32, run

print(run("Mod", [f32(1, 1e9), f32(np.inf, 7)], fmod=1)[0].tolist())
