"""gelu is inf from 2^127 on, and NaN at +inf

oneDNN's kernel for AVX-512 doubles x before it halves it; with `torch.backends.mkldnn` disabled, and with
ONEDNN_MAX_CPU_ISA=AVX2, the answers are right.

Ledger: gelu forward, geglu_erf forward
Needs: avx512bw
Expected:
    1.8e+38 inf
"""

import torch
import torch.nn.functional as F

for x in (1.8e38, float("inf")):
    print(f"{F.gelu(torch.full((16,), x))[0].item():.2g}", end=" ")
