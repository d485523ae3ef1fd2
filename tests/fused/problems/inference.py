"""What a language model runs when it answers: caches in blocks, latent keys, routed experts, pooled rows."""

from __future__ import annotations

import torch
from fused_problems.shared import F, Problem, Wrong, wide

NONE = float("-inf")

# --- one query a sequence against keys that lie in blocks, two query heads to a key head


def paged(q, keys, values, table, lengths):
    rows = []
    for one, blocks, n in zip(q, table, lengths.tolist(), strict=True):
        k, v = (cache[blocks].flatten(0, 1)[:n].repeat_interleave(2, 1) for cache in (keys, values))
        shares = torch.einsum("hd,thd->ht", one, k).div(q.shape[-1] ** 0.5).softmax(-1)
        rows.append(torch.einsum("ht,thd->hd", shares, v))
    return torch.stack(rows)


def _split(q, keys, values, table, lengths, tail=0, even=False, dealt=False):
    """Every block by itself, joined by the logarithms of their sums."""
    rows, width = [], keys.shape[1]
    for one, blocks, n in zip(q, table, lengths.tolist(), strict=True):
        heads = one.reshape(2, 2, -1).transpose(0, 1) if dealt else one.reshape(2, 2, -1)
        sums, parts = [], []
        for at, block in enumerate(blocks.tolist()[: -(-n // width)]):
            k, v = (cache[block, : min(width, n - width * at + tail)] for cache in (keys, values))
            scores = torch.einsum("kgd,tkd->kgt", heads, k) * q.shape[-1] ** -0.5
            sums.append(scores.logsumexp(-1))
            parts.append(torch.einsum("kgt,tkd->kgd", scores.softmax(-1), v))
        weights = torch.stack(sums).softmax(0)
        weights = torch.full_like(weights, 1 / len(sums)) if even else weights
        y = (weights[..., None] * torch.stack(parts)).sum(0)
        rows.append((y.transpose(0, 1) if dealt else y).reshape(4, -1))
    return torch.stack(rows)


def _blocks(seed, dtype):
    torch.manual_seed(seed)
    caches = (torch.randn(6, 4, 2, 8).to(dtype) for _ in range(2))
    table = torch.tensor([[3, 0, 5], [1, 2, 0], [4, 0, 0]])
    return [torch.randn(3, 4, 8).to(dtype), *caches, table, torch.tensor([9, 8, 3])]


PAGED = Problem(
    paged,
    _blocks,
    (wide(_split),),
    {
        "a place past the end": Wrong(wide(lambda *t: _split(*t, tail=1))),
        "blocks weigh alike": Wrong(wide(lambda *t: _split(*t, even=True)), "bf16"),
        "heads dealt in turn": Wrong(wide(lambda *t: _split(*t, dealt=True))),
    },
)

# --- attention whose keys and values are made of one latent row, with the weights taken into the query


def latent(q, rows, up_k, up_v):
    k, v = (torch.einsum("tr,hrd->htd", rows, w) for w in (up_k, up_v))
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


def _absorbed(q, rows, up_k, up_v, width=None, kept=None):
    scores = torch.einsum("hnd,hrd->hnr", q, up_k) @ rows.T / (width or q.shape[-1]) ** 0.5
    shares = scores.softmax(-1)
    shares = shares if kept is None else shares.to(kept).float()
    return (shares @ rows) @ up_v


LATENT = Problem(
    latent,
    [(2, 5, 8), (7, 6), (2, 6, 8), (2, 6, 8)],
    (wide(_absorbed),),
    {
        "scaled by the rank": Wrong(wide(lambda *t: _absorbed(*t, width=6))),
        "shares in bf16": Wrong(wide(lambda *t: _absorbed(*t, kept=torch.bfloat16))),
    },
)

# --- experts chosen by a sigmoid and a bias, weighted without it; tokens sorted by expert


def routed(x, gate, bias, up, down):
    shares = torch.sigmoid(x @ gate.T)
    places = (shares + bias).topk(2, -1).indices
    weights = shares.gather(1, places)
    weights = 2.5 * weights / (weights.sum(-1, keepdim=True) + 1e-20)
    y = torch.zeros_like(x)
    for expert, (w1, w2) in enumerate(zip(up, down, strict=True)):
        weight = (weights * (places == expert)).sum(1, keepdim=True)
        y = y + weight * (F.silu(x @ w1.T) @ w2.T)
    return y


def _grouped(x, gate, bias, up, down, biased=False, experts=5):
    shares = torch.sigmoid(x @ gate.T)
    places = (shares + bias).topk(2, -1).indices
    weights = (shares + bias if biased else shares).gather(1, places)
    weights = 2.5 * weights / (weights.sum(-1, keepdim=True) + 1e-20)
    order = places.flatten().argsort(stable=True)
    token, expert, weight = order // 2, places.flatten()[order], weights.flatten()[order]
    y = torch.zeros_like(x)
    for e in range(experts):
        here = expert == e
        rows = F.silu(x[token[here]] @ up[e].T) @ down[e].T
        y = y.index_add(0, token[here], rows * weight[here, None])
    return y


def _tokens(seed, dtype):
    torch.manual_seed(seed)
    shapes = (((10, 8), 1.0), ((5, 8), 1.0), ((5,), 0.1), ((5, 12, 8), 0.4), ((5, 8, 12), 0.4))
    return [(torch.randn(shape) * size).to(dtype) for shape, size in shapes]


ROUTED = Problem(
    routed,
    _tokens,
    (wide(_grouped),),
    {
        "the bias weighs": Wrong(wide(lambda *t: _grouped(*t, biased=True))),
        "the last expert is lost": Wrong(wide(lambda *t: _grouped(*t, experts=4))),
        "no gradient of the gate": Wrong(wide(lambda x, gate, *t: _grouped(x, gate.detach(), *t))),
    },
    ("f32",),
)

# --- rows that a mask of 0 and 1 keeps, by what is added to their scores; then rows of length 1


def pooled(x, q, mask):
    scores = q @ x.mT / x.shape[-1] ** 0.5 + (1 - mask)[:, None] * -1e9
    return F.normalize((scores.softmax(-1) @ x).mean(1), dim=-1)


def _kept(x, q, mask, factor=1.0, heed=True):
    scores = torch.einsum("qd,btd->bqt", q, x) * x.shape[-1] ** -0.5
    scores = torch.where(mask[:, None] > 0, scores, NONE) if heed else scores
    y = torch.einsum("bt,btd->bd", scores.softmax(-1).mean(1), x)
    return factor * y / y.norm(dim=-1, keepdim=True).clamp_min(1e-12)


def _sentences(seed, dtype):
    torch.manual_seed(seed)
    mask = torch.arange(7) < torch.tensor([[3], [7], [2]])
    return [torch.randn(3, 7, 8).to(dtype), torch.randn(4, 8).to(dtype), mask.to(dtype)]


POOLED = Problem(
    pooled,
    _sentences,
    (wide(_kept),),
    {
        "the mask is not heeded": Wrong(wide(lambda *t: _kept(*t, heed=False))),
        "a little too long": Wrong(wide(lambda *t: _kept(*t, factor=1.03)), "bf16"),
    },
)
