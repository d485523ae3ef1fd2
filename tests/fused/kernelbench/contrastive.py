"""A contrastive loss with a learned temperature."""

import torch
from torch import nn

F = nn.functional


class Model(nn.Module):
    def __init__(self, heat):
        super().__init__()
        self.heat = nn.Parameter(torch.tensor(heat))

    def forward(self, x, y):
        z = F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T * self.heat.exp()
        places = torch.arange(len(x))
        return (F.cross_entropy(z, places) + F.cross_entropy(z.T, places)) / 2


class ModelNew(Model):
    def forward(self, x, y):
        x = x * x.square().sum(-1, keepdim=True).rsqrt()
        y = y * y.square().sum(-1, keepdim=True).rsqrt()
        z = (x * self.heat.exp()) @ y.T
        whole = z.logsumexp(0).sum() + z.logsumexp(1).sum()
        return (whole / 2 - z.trace()) / len(x)


class ModelWrong(Model):
    def forward(self, x, y):
        x, y = F.normalize(x, dim=-1), F.normalize(y, dim=-1)
        z = x @ y.T * self.heat.exp()
        return (z.logsumexp(1) - z.diagonal()).mean()


def get_inputs():
    return [torch.randn(5, 8), torch.randn(5, 8)]


def get_init_inputs():
    return [2.0]
