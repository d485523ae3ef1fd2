"""gelu of float32 is 5e-7 off on CPUs with AVX-512: near -3, where it is 0.004, it has four digits

Ledger: flash_ff gradient
Needs: avx512bw
Expected: -0.0041708
"""

import torch
import torch.nn.functional as F

print(f"{F.gelu(torch.full((16,), -2.99))[0].item():.5g}")
