"""Group normalisation adds up the channels of a group in series: small squares after a large one are lost

Their sum loses what it cannot hold of each. Of one channel it is made in vectors.

Ledger: group_norm forward
Expected:
    70,001 channels 0.06449
    one channel 0.06449
"""

import numpy as np
from preamble import run

x = np.array([4096.0, *[0.9, -0.9] * 35000], np.float32)
for name, shape in (("70,001 channels", (1, 70001, 1, 1)), ("one channel", (1, 1, 70001, 1))):
    ones = np.ones(shape[1], np.float32)
    y = run("GroupNormalization", [x.reshape(shape), ones, 0 * ones], opset=21, constant=(1, 2), num_groups=1)[
        0
    ].ravel()
    print(name, f"{(y[1] - y[2]) / 1.8:.5f}")
