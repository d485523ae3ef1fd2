"""gelu_erf is inf from 2^127 on, and NaN at +inf

The kernel for AVX-512 doubles x before it halves it; that for AVX2 does not (ONEDNN_MAX_CPU_ISA=AVX2).

Ledger: gelu forward
Needs: avx512bw
Expected:
    1.8e+38
    inf
"""

from preamble import eltwise

for x in (1.8e38, float("inf")):
    print(f"{eltwise('gelu_erf', [x] * 16)[0]:.2g}")
