"""Experts and their gates."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, wide

F = torch.nn.functional

# --- gating of experts


def gating(x, w):
    shares = (x @ w).softmax(-1)
    best, which = shares.topk(2, -1)
    return best / best.sum(-1, keepdim=True), which


def _gating_of_logits(x, w):
    best, which = (x @ w).topk(2, -1)
    return best.softmax(-1), which


def _gating_by_sort(x, w):
    best, which = (x @ w).sort(-1, descending=True)
    e = (best[:, :2] - best[:, :1]).exp()
    return e / e.sum(-1, keepdim=True), which[:, :2]


def _shares_rounded(f):
    def candidate(x, w):
        shares, which = f(x.float(), w.float())
        return shares.to(x.dtype), which

    return candidate


GATING = Problem(
    gating,
    [(7, 16), (16, 8)],
    (_shares_rounded(_gating_of_logits), _shares_rounded(_gating_by_sort)),
    {
        "shares of all experts": Wrong(_shares_rounded(lambda x, w: (x @ w).softmax(-1).topk(2, -1))),
        "order of experts": Wrong(_shares_rounded(lambda x, w: (gating(x, w)[0], gating(x, w)[1].flip(-1)))),
        "one expert for all rows": Wrong(
            _shares_rounded(lambda x, w: (gating(x, w)[0], gating(x, w)[1][:1].repeat(x.shape[0], 1)))
        ),
    },
)

# --- experts with two layers each, chosen and weighted by row


def experts(x, a, b, which, weight):
    y = F.silu(torch.einsum("ni,nkij->nkj", x, a[which]))
    y = torch.einsum("nkj,nkjo->nko", y, b[which])
    return (y * weight[..., None]).sum(1)


def _experts_in_turn(x, a, b, which, weight, squared=False, last=False):
    y = torch.zeros(x.shape[0], b.shape[-1])
    for e in range(a.shape[0]):
        row, place = (which == e).nonzero(as_tuple=True)
        h = x[row] @ a[e]
        out = (h * torch.sigmoid(h)) @ b[e] * weight[row, place][:, None]
        y = (
            y.index_copy(0, row, out)
            if last
            else y.index_add(0, row, out * weight[row, place][:, None] if squared else out)
        )
    return y


def _experts_all(x, a, b, which, weight):
    h = torch.einsum("ni,eij->enj", x, a)
    every = torch.einsum("enj,ejo->eno", h * torch.exp(F.logsigmoid(h)), b)
    shares = torch.zeros(x.shape[0], a.shape[0]).scatter_add(1, which, weight)
    return torch.einsum("eno,ne->no", every, shares)


def _routed(seed, dtype):
    torch.manual_seed(seed)
    which = torch.stack([torch.randperm(3)[:2] for _ in range(6)])
    return [*(torch.randn(*s).to(dtype) for s in ((6, 5), (3, 5, 4), (3, 4, 5))), which, torch.rand(6, 2).to(dtype)]


EXPERTS = Problem(
    experts,
    _routed,
    (wide(_experts_in_turn), wide(_experts_all)),
    {
        "weights used twice": Wrong(wide(lambda *t: _experts_in_turn(*t, squared=True))),
        "the last expert alone": Wrong(wide(lambda *t: _experts_in_turn(*t, last=True))),
        "weights without a gradient": Wrong(wide(lambda x, a, b, i, w: _experts_all(x, a, b, i, w.detach()))),
    },
)

# --- a loss that balances experts


def balance(x, w):
    shares = (x @ w).softmax(-1)
    best = shares.argmax(-1)
    load = F.one_hot(best, w.shape[1]).to(x.dtype).mean(0)
    return w.shape[1] * (load * shares.mean(0)).sum() + 1e-2 * torch.logsumexp(x @ w, -1).square().mean()


def _balance_by_counts(x, w, factor=1.0, penalty=1e-2):
    z = x @ w
    whole = z.logsumexp(-1, keepdim=True)
    counts = torch.bincount(z.argmax(-1), minlength=w.shape[1])
    shares = torch.exp(z - whole).sum(0)
    return factor * w.shape[1] * (counts * shares).sum() / x.shape[0] ** 2 + penalty * (whole * whole).mean()


def _balance_by_rows(x, w):
    rows = [x[i] @ w for i in range(x.shape[0])]
    mean = sum(r.softmax(-1) for r in rows) / len(rows)
    loss = sum(mean[int(r.argmax())] for r in rows) * (w.shape[1] / len(rows))
    return loss + 0.01 / len(rows) * sum(r.logsumexp(0) ** 2 for r in rows)


BALANCE = Problem(
    balance,
    [(9, 5), (5, 4)],
    (wide(_balance_by_counts), wide(_balance_by_rows)),
    {
        "not times the experts": Wrong(wide(lambda x, w: _balance_by_counts(x, w, 1 / w.shape[1]))),
        "no penalty of logits": Wrong(wide(lambda x, w: _balance_by_counts(x, w, penalty=0.0))),
        "shares not differentiated": Wrong(
            wide(
                lambda x, w: (
                    _balance_by_counts(x.detach(), w.detach())
                    + 0.01 * ((x @ w).logsumexp(-1).square().mean() - (x @ w).logsumexp(-1).square().mean().detach())
                )
            )
        ),
    },
)
