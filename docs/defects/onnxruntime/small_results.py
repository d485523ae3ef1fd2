"""tanh and Mish lose digits next to the smallest normal number, LSTM's gates where they are next to 0

They are rational approximations, cut off; Mish passes through a subnormal e^x. The tanh of
RNN is twice a sigmoid less 1.

Ledger: tanh forward, mish forward, lstm_cell forward, rnn_cell forward
Expected:
    Tanh 1.000000
    Mish 1.0000
    RNN 1.0000
"""

import numpy as np
from preamble import f32, run

x = np.float32(1.2e-38)
print(f"Tanh {run('Tanh', [f32(*[x] * 16)])[0][0] / x:.6f}")
y = np.float32(-90.0)
print(f"Mish {run('Mish', [f32(y)])[0][0] / (float(y) * np.exp(float(y))):.4f}")
one, weight = np.full((1, 1, 1), 1e-5, np.float32), np.ones((1, 1, 1), np.float32)
print(f"RNN {run('RNN', [one, weight, weight], outputs=2, hidden_size=1)[1].item() / 1e-5:.4f}")
