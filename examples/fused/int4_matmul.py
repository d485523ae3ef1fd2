"""A product with weights of 4 bits in groups of 8, dequantised on the way, in C.

Broken: of every byte it reads the high half first.
"""

import c_library
import torch

GROUP = 8


def reference(x, packed, scale, zero):
    codes = torch.stack([packed & 15, packed >> 4], -1).reshape(scale.shape[0], -1, GROUP)
    return x @ ((codes - zero[..., None]) * scale[..., None]).flatten(1).mT


def inputs(seed):
    packed = torch.randint(256, (6, 12), dtype=torch.uint8)
    return [torch.randn(5, 24), packed, torch.rand(6, 3) + 0.1, torch.randint(16, (6, 3)).float()]


options = {"gradients": False}  # weights that are quantised are not trained


def right(x, packed, scale, zero, swapped=False):
    m, n, k = x.shape[0], packed.shape[0], x.shape[1]
    y = x.new_empty(m, n)
    c_library.call("int4_matmul", x, packed, scale, zero, y, m, n, k, GROUP, swapped)
    return y


def broken(x, packed, scale, zero):
    return right(x, packed, scale, zero, swapped=True)
