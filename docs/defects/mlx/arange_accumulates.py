"""arange adds the step up: after ten thousand steps of 0.1 it is 0.1 off, and past 2^24 it stands still

Each element is the one before plus the step, rounded to float32; start + i step is rounded twice at most.

Ledger: arange forward
Expected:
    1000.0
    16777308.0
"""

import mlx.core as mx

print(round(mx.arange(0.0, 1000.05, 0.1)[-1].item(), 2))
print(mx.arange(16777208.0, 16777308.0, 1.0)[-1].item())
