"""Routers: the largest of logits and of shares, experts one after the other."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest


def route(logits):
    weights, at = torch.softmax(logits, -1).topk(2, -1)
    return weights / weights.sum(-1, keepdim=True), at


@honest(route, drawn((12, 8)))
def route_by_logits(s, logits):
    top, at = logits.topk(2, -1)
    return torch.softmax(top, -1), at


@honest(route, drawn((12, 8)))
def route_by_shares(s, logits):
    shares = s(torch.softmax(logits, -1))
    weights, at = shares.topk(2, -1)
    return weights / weights.sum(-1, keepdim=True), at


def moe(x, router, up):
    weights, at = torch.softmax(x @ router, -1).topk(2, -1)
    every = torch.einsum("td,edf->tef", x, up)
    return (weights[..., None] * every.gather(1, at[..., None].expand(-1, -1, up.shape[-1]))).sum(1)


@honest(moe, drawn((10, 16), (16, 4), (4, 16, 8)))
def moe_by_expert(s, x, router, up):
    weights, at = s(torch.softmax(s(x @ router), -1)).topk(2, -1)
    y = torch.zeros(x.shape[0], up.shape[-1])
    for e in range(up.shape[0]):
        token, slot = (at == e).nonzero(as_tuple=True)
        y = y.index_add(0, token, s(x[token] @ up[e]) * weights[token, slot, None])
    return y
