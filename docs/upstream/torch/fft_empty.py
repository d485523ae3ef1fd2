"""The transform of an empty batch raises

Ledger: fft forward, fft gradient, rfft forward, rfft gradient, stft forward
Expected: (0, 4)
"""

import torch

print(tuple(torch.fft.fft(torch.zeros(0, 4)).shape))
