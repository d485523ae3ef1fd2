"""Range of float32 adds the step up: past 2^24 it stands still

Each element is the one before plus delta, rounded; the specification has start + i delta.

Ledger: arange forward
Expected: 16777308.0
"""

from preamble import f32, run

(y,) = run("Range", [v[0] for v in f32(16777208.0, 16777308.0, 1.0).reshape(3, 1)])
print(float(y[-1]))
