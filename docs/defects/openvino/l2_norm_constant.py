"""LpNormalization adds 1.2e-7 to the sum of squares: 1 % off where the length is 0.0025

Ledger: l2_norm forward
Expected: 1.0000
"""

from preamble import f32, run

print(f"{run('LpNormalization', [f32(0.0025, 0.0)], axis=0, p=2)[0][0]:.4f}")
