"""Sigmoid is 0 below -87, where it is still a normal number, and what is made with it

Ledger: silu forward, sigmoid forward, gelu_quick forward
Needs: avx512bw
Expected: 1.53e-38
"""

from preamble import f32, run

print(f"{run('Sigmoid', [f32(*16 * [-87.07])])[0][0]:.3g}")
