"""trigamma of float64 has nine digits

trigamma(1) is pi^2 / 6.

Ledger: digamma gradient
Expected: 1.644934066848
"""

import torch

print(f"{torch.polygamma(1, torch.ones(1, dtype=torch.float64)).item():.12f}")
