"""A convolution by channel, gated by another."""

import torch
from torch import nn

F = nn.functional


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv1d(c, c, 3, padding=1, groups=c)
        self.gate = nn.Conv1d(c, c, 1)

    def forward(self, x):
        return self.conv(x) * torch.sigmoid(self.gate(x))


class ModelNew(Model):
    def forward(self, x):
        w, wide = self.conv.weight, F.pad(x, (1, 1))
        y = sum(wide[..., i : i + x.shape[-1]] * w[:, :, i] for i in range(3)) + self.conv.bias[:, None]
        return y * torch.sigmoid(torch.einsum("oc,bcn->bon", self.gate.weight[..., 0], x) + self.gate.bias[:, None])


class ModelWrong(Model):
    def forward(self, x):
        w, wide = self.conv.weight, F.pad(x, (1, 1))
        y = sum(wide[..., i : i + x.shape[-1]] * w[:, :, 2 - i] for i in range(3)) + self.conv.bias[:, None]
        return y * torch.sigmoid(self.gate(x))


def get_inputs():
    return [torch.randn(2, 3, 7)]


def get_init_inputs():
    return [3]
