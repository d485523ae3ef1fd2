"""LayerNorm of a tensor with one axis is 0

Ledger: layer_norm forward
Expected: [-1.0, 1.0]
"""

from preamble import aidge, f32, run

y = run(aidge.LayerNorm([2], 0, 1e-5), f32(0.0, 2.0), f32(1.0, 1.0), f32(0.0, 0.0))
print([round(v, 2) for v in y.tolist()])
