"""Gelu is inf from 2^127 on, and NaN at +inf

Its kernel for AVX-512, oneDNN's, doubles x before it halves it.

Ledger: gelu forward
Needs: avx512bw
Expected:
    1.8e+38
    inf
"""

from preamble import f32, run

for x in (1.8e38, float("inf")):
    print(f"{run('Gelu', [f32(*16 * [x])], opset=20)[0][0]:.2g}")
