"""A linear layer, gelu, a scale by channel."""

import torch
from torch import nn

F = nn.functional


class Model(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.linear = nn.Linear(n, m)
        self.scale = nn.Parameter(torch.rand(m) + 0.5)

    def forward(self, x):
        return F.gelu(self.linear(x)) * self.scale


class ModelNew(Model):
    def forward(self, x):
        y = torch.einsum("bi,oi->bo", x, self.linear.weight) + self.linear.bias
        return torch.special.ndtr(y) * (y * self.scale)


class ModelWrong(Model):
    def forward(self, x):
        y = self.linear(x)
        return F.gelu(y, approximate="tanh") * self.scale


def get_inputs():
    return [torch.randn(5, 12)]


def get_init_inputs():
    return [12, 9]
