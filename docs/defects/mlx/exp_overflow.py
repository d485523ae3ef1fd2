"""exp is infinite from 88.37 on; the largest float is exp(88.72)

Ledger: exp forward, exp gradient
Expected: 2.72e+38
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print(f"{mx.exp(mx.array([88.5] * 8))[0].item():.3g}")
