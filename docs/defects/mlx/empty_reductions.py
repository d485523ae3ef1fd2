"""argmax and logsumexp of an array of no rows raise

There are no rows to reduce; the answer is empty.

Ledger: argmax forward, argmin forward, logsumexp forward
Expected: (0,) (0,)
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print(mx.logsumexp(mx.zeros((0, 5)), axis=1).shape, mx.argmax(mx.zeros((0, 3)), axis=1).shape)
