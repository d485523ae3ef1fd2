"""A residual, then an RMS norm."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x, r):
        h = x + r
        return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-3) * self.weight


class ModelNew(Model):
    def forward(self, x, r):
        h = r + x
        return self.weight * (h / ((h * h).sum(-1, keepdim=True) / h.shape[-1] + 1e-3).sqrt())


class ModelWrong(Model):
    def forward(self, x, r):
        h = x + r
        return h / (h.square().mean(-1, keepdim=True).sqrt() + 1e-3) * self.weight


def get_inputs():
    return [torch.randn(4, 15), torch.randn(4, 15)]


def get_init_inputs():
    return [15]
