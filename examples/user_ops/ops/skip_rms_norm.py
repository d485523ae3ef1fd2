"""skip_rms_norm: (x + residual) / rms(x + residual) × weight over the last axis, and x + residual.

Shapes: x and residual (..., n), weight (n); y and h as x.
"""

import torch

OUTPUTS = ("y", "h")

rows = [
    "x=7x33;residual=7x33;weight=33,",
    "x=2x3x64;residual=2x3x64;weight=64,;eps=1e-3",
    "x=4x1;residual=4x1;weight=1,",
    "x=3x17;residual=3x17;weight=17,;fill=wide;layout=transposed",
    "x=2x4099;residual=2x4099;weight=4099,",
    "x=3x32;residual=3x32;weight=32,;fill=zeros",
]


def reference(x, residual, weight, *, eps=1e-6):
    h = x + residual
    return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * weight, h
