"""Pad under reflect refuses a negative size, which cuts: -1 is taken for an unsigned number

2, 3, 4, 5 are left of 1 to 5, and get two elements at the end.

Ledger: pad forward
Expected: [2.0, 3.0, 4.0, 5.0, 4.0, 3.0]
"""

from preamble import aidge, f32, run

try:
    print(run(aidge.Pad([-1, 2], mode=aidge.PaddingMode.REFLECT), f32(1, 2, 3, 4, 5)).tolist())
except RuntimeError as error:
    print(str(error).partition(" for")[0])
