"""stft of a signal whose rows are one in memory gives each row the mean of their gradients

The backward of as_strided shares a gradient equally among the places of one element; the rows are two inputs.

Ledger: stft gradient
Expected:
    own memory [-0.71, -1.41]
    expanded [-0.71, -1.41]
"""

import torch

for name, x in (("own memory", torch.arange(8.0).repeat(2, 1)), ("expanded", torch.arange(8.0).expand(2, 8))):
    x.requires_grad_()
    window = torch.ones(4)
    size = torch.stft(x, 4, hop_length=4, center=False, window=window, return_complex=True).abs()
    (size.sum(dim=(1, 2)) * torch.tensor([1.0, 2.0])).sum().backward()
    print(name, [round(v, 2) for v in x.grad[:, 0].tolist()])
