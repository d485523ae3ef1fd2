"""erf of small numbers is 1.7 % off at 1e-5

It is a polynomial fit for absolute error. erf(x) is 1.1284 x for small x.

Ledger: erf forward
Expected: 1.1284 1.1284
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
x = mx.array([1e-5, 1e-3])
ratio = (mx.erf(x) / x).tolist()
print(f"{ratio[0]:.4f} {ratio[1]:.4f}")
