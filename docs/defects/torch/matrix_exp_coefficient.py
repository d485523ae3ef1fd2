"""matrix_exp of a single matrix of norm 0.05 to 0.58 has 4 right digits in float32

A coefficient of its polynomial of degree 8 lacks a factor of 3 / 2. In float64 norms of 0.0003 to 0.05 have 10 digits.
A batch of two is right: it is computed by another polynomial.

Ledger: matrix_exp forward, matrix_exp gradient
Expected:
    alone 0.877583
    in a batch 0.877583
"""

import torch

a = torch.tensor([[0.0, -0.5], [0.5, 0.0]])  # a turn by half a radian, whose cosine is 0.877583
print(f"alone {torch.linalg.matrix_exp(a)[0, 0]:.6f}")
print(f"in a batch {torch.linalg.matrix_exp(torch.stack([a, a]))[0, 0, 0]:.6f}")
