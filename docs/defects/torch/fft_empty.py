"""The transform of an empty batch raises

Ledger: fft forward, fft gradient, rfft forward, rfft gradient, stft forward
Upstream: https://github.com/pytorch/pytorch/issues/174984
Expected: (0, 4)
"""

import torch

print(tuple(torch.fft.fft(torch.zeros(0, 4)).shape))
