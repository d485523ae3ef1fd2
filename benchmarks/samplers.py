"""Honest samplers against `check`, at many seeds, and samplers with one defect each: who passes, and what that takes.

    python benchmarks/samplers.py [--seeds 200] [--seconds 4] [--only top_p] [--wrong] [--out found.jsonl]

At a seed every honest sampler of the list has its turn, so that 200 seeds are 200 checks. With --wrong each sampler
that has a defect is checked once, at the default seconds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import mlx.core as mx
import numpy as np
import torch

import opproof

Tensor = Any


def softmax(logits: Tensor) -> Tensor:
    return torch.softmax(logits, -1)


def weights(w: Tensor) -> Tensor:
    return w / w.sum(-1, keepdim=True)


def top_p(logits: Tensor, temperature: float, p: float) -> Tensor:
    shares, order = torch.softmax(logits / temperature, -1).sort(stable=True, dim=-1, descending=True)
    kept = torch.where(shares.cumsum(-1) - shares > p, 0.0, shares)
    return weights(torch.zeros_like(shares).scatter(-1, order, kept))


def top_k(logits: Tensor, k: int) -> Tensor:
    some, places = torch.topk(logits, k, -1)
    return torch.zeros_like(logits).scatter(-1, places, torch.softmax(some, -1))


def min_p(logits: Tensor, p: float) -> Tensor:
    shares = torch.softmax(logits, -1)
    return weights(torch.where(shares < p * shares.amax(-1, keepdim=True), 0.0, shares))


def accepted(target: Tensor, draft: Tensor, token: Tensor) -> Tensor:
    """Of speculative decoding: the draft's token, or one of what the target has more of."""
    at = token[:, None]
    accept = (target.gather(-1, at) / draft.gather(-1, at)).clamp(max=1.0)
    more = (target - draft).clamp(min=0.0)
    more = torch.where(more.sum(-1, keepdim=True) > 0, more / more.sum(-1, keepdim=True), 0.0)
    return ((1 - accept) * more).scatter_add(-1, at, accept)


def dropout(x: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """The values that an element may get, and the probability of each."""
    values = torch.stack([torch.zeros_like(x), x / (1 - p)], -1)
    return values, torch.tensor([p, 1 - p], dtype=torch.float64).expand(values.shape)


def make_drafts(seed: int, dtype: torch.dtype) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    target, draft = (softmax(2 * torch.randn(32, 64, generator=generator)).to(dtype) for _ in range(2))
    return [target, draft, torch.multinomial(draft.float(), 1, generator=generator).squeeze(-1)]


def make_weights(seed: int, dtype: torch.dtype) -> list[Tensor]:
    return [torch.rand(8, 50, generator=torch.Generator().manual_seed(seed)).to(dtype)]


def draw(shares: Tensor) -> Tensor:
    return torch.multinomial(shares, 1).squeeze(-1)


def search(shares: Tensor, u: Tensor) -> Tensor:
    """By the inverse of the cumulative sum."""
    total = shares.cumsum(-1)
    return (
        torch.searchsorted(total, u[..., None] * total[..., -1:], right=True).squeeze(-1).clamp(max=total.shape[-1] - 1)
    )


def top_p_multinomial(logits: Tensor, temperature: float, p: float) -> Tensor:
    return draw(top_p(logits.float(), temperature, p))


def top_p_inverse(logits: Tensor, temperature: float, p: float) -> Tensor:
    shares = top_p(logits.float(), temperature, p)
    return search(shares, torch.rand(shares.shape[:-1]))


def top_p_gumbel(logits: Tensor, temperature: float, p: float, *, generator: torch.Generator) -> Tensor:
    shares = top_p(logits.float(), temperature, p)
    return (shares / torch.empty_like(shares).exponential_(generator=generator)).argmax(-1)


def top_p_seed(logits: Tensor, temperature: float, p: float, *, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.multinomial(top_p(logits.float(), temperature, p), 1, generator=generator)


def top_k_threshold(logits: Tensor, k: int) -> Tensor:
    x = logits.float()
    least = torch.topk(x, k, -1).values[..., -1:]
    return draw(softmax(torch.where(x < least, float("-inf"), x)))


def top_k_sorted(logits: Tensor, k: int) -> Tensor:
    x, order = logits.float().sort(dim=-1, descending=True)
    return order.gather(-1, draw(softmax(x[..., :k]))[..., None]).squeeze(-1)


def min_p_multinomial(logits: Tensor, p: float) -> Tensor:
    return draw(min_p(logits.float(), p))


def several(w: Tensor) -> Tensor:
    return torch.multinomial(w.float(), 16, replacement=True)


def speculative(target: Tensor, draft: Tensor, token: Tensor) -> Tensor:
    p, q, at = target.float(), draft.float(), token[:, None]
    take = torch.rand(at.shape) * q.gather(-1, at) < p.gather(-1, at)
    more = (p - q).clamp(min=0.0)
    more = torch.where(more.sum(-1, keepdim=True) > 0, more, p)
    return torch.where(take, at, torch.multinomial(more, 1)).squeeze(-1)


def torch_dropout(x: Tensor, p: float) -> Tensor:
    return torch.nn.functional.dropout(x, p)


def jax_gumbel(logits: Any, *, key: Any) -> Any:
    return jax.numpy.argmax(logits + jax.random.gumbel(key, logits.shape), -1)


def mlx_categorical(logits: Any) -> Any:
    return mx.random.categorical(logits)


def numpy_inverse(logits: Any, *, rng: Any) -> Any:
    z = logits.astype(np.float64)
    total = np.exp(z - z.max(-1, keepdims=True)).cumsum(-1)
    return (total <= rng.random(total.shape[:-1])[..., None] * total[..., -1:]).sum(-1)


def off_by_one(logits: Tensor, temperature: float, p: float) -> Tensor:
    """Without the token that crosses p."""
    shares, order = softmax(logits.float() / temperature).sort(stable=True, dim=-1, descending=True)
    cut = shares.cumsum(-1) > p
    cut[..., 0] = False
    return order.gather(-1, draw(torch.where(cut, 0.0, shares))[..., None]).squeeze(-1)


def one_more(logits: Tensor, temperature: float, p: float) -> Tensor:
    """With the token behind it."""
    shares, order = softmax(logits.float() / temperature).sort(stable=True, dim=-1, descending=True)
    cut = torch.nn.functional.pad((shares.cumsum(-1) - shares > p)[..., :-1], (1, 0))
    return order.gather(-1, draw(torch.where(cut, 0.0, shares))[..., None]).squeeze(-1)


def not_renormalised(logits: Tensor, temperature: float, p: float) -> Tensor:
    """What is cut goes to the last token that is kept."""
    shares, order = softmax(logits.float() / temperature).sort(stable=True, dim=-1, descending=True)
    kept = torch.where(shares.cumsum(-1) - shares > p, 0.0, shares)
    place = torch.searchsorted(kept.cumsum(-1), torch.rand(kept.shape[0], 1))
    return order.gather(-1, torch.minimum(place, (kept > 0).sum(-1, keepdim=True) - 1)).squeeze(-1)


def temperature_twice(logits: Tensor, temperature: float, p: float) -> Tensor:
    return draw(top_p(logits.float() / temperature, temperature, p))


def shared_uniform(logits: Tensor, temperature: float, p: float) -> Tensor:
    shares = top_p(logits.float(), temperature, p)
    return search(shares, torch.rand(()).expand(shares.shape[:-1]).contiguous())


def fixed_seed(logits: Tensor, temperature: float, p: float) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.multinomial(top_p(logits.float(), temperature, p), 1, generator=generator)


def first_row(logits: Tensor, temperature: float, p: float) -> Tensor:
    """Every row by the law of the first."""
    return torch.multinomial(top_p(logits.float(), temperature, p)[0], len(logits), replacement=True)


def noise_in_16_bits(logits: Tensor) -> Tensor:
    """Gumbel noise from uniform numbers of the logits' dtype: in bfloat16 they have 8 bits."""
    return (logits - torch.rand_like(logits).log().neg().log()).argmax(-1)


def no_residual(target: Tensor, draft: Tensor, token: Tensor) -> Tensor:
    """A token that is rejected is drawn anew from the whole target."""
    at = token[:, None]
    take = torch.rand(at.shape) * draft.float().gather(-1, at) < target.float().gather(-1, at)
    return torch.where(take, at, torch.multinomial(target.float(), 1)).squeeze(-1)


def without_replacement(w: Tensor) -> Tensor:
    return torch.multinomial(w.float(), 2)


def dropout_unscaled(x: Tensor, p: float) -> Tensor:
    return x * (torch.rand(x.shape) >= p)


def dropout_of_columns(x: Tensor, p: float) -> Tensor:
    """One mask for all rows."""
    return x * (torch.rand(x.shape[-1]) >= p) / (1 - p)


def dropout_of_the_rest(x: Tensor, p: float) -> Tensor:
    """With p for 1 - p."""
    return x * (torch.rand(x.shape) < p) / (1 - p)


@dataclass(frozen=True)
class Sampler:
    """A candidate, what gives its probabilities, and its inputs."""

    candidate: Callable[..., Any]
    probabilities: Callable[..., Any]
    inputs: Any


_LOGITS = [(16, 1000)]
_TOP_P = [(16, 1000), 0.7, 0.9]
_TOP_K = [(16, 1000), 50]
_DROPOUT = [(16, 64), 0.3]
HONEST = [
    *(Sampler(one, top_p, _TOP_P) for one in (top_p_multinomial, top_p_inverse, top_p_gumbel, top_p_seed)),
    *(Sampler(one, top_k, _TOP_K) for one in (top_k_threshold, top_k_sorted)),
    *(Sampler(one, softmax, _LOGITS) for one in (jax_gumbel, mlx_categorical, numpy_inverse)),
    Sampler(min_p_multinomial, min_p, [(16, 1000), 0.1]),
    Sampler(several, weights, make_weights),
    Sampler(speculative, accepted, make_drafts),
    Sampler(torch_dropout, dropout, _DROPOUT),
]
_WRONG_TOP_P = (off_by_one, one_more, not_renormalised, temperature_twice, shared_uniform, fixed_seed, first_row)
WRONG = [
    *(Sampler(one, top_p, _TOP_P) for one in _WRONG_TOP_P),
    Sampler(noise_in_16_bits, softmax, _LOGITS),
    Sampler(no_residual, accepted, make_drafts),
    Sampler(without_replacement, weights, make_weights),
    *(Sampler(one, dropout, _DROPOUT) for one in (dropout_unscaled, dropout_of_columns, dropout_of_the_rest)),
]


def check_one(sampler: Sampler, seed: int, seconds: float) -> dict[str, Any]:
    """What came of one check."""
    begun = time.process_time()
    report = opproof.check(
        sampler.candidate, like="sampling", probabilities=sampler.probabilities, inputs=sampler.inputs, seed=seed,
        seconds=seconds, raises=False,
    )  # fmt: skip
    said = report.worst.message if report.failures and report.worst is not None else ""
    took = round(time.process_time() - begun, 1)
    return {
        "sampler": sampler.candidate.__name__,
        "seed": seed,
        "ok": report.ok,
        "draws": report.draws,
        "seconds": took,
        "said": said,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    listed = [s for s in (WRONG if asked.wrong else HONEST) if asked.only in s.candidate.__name__]
    turns = [(s, 0) for s in listed] if asked.wrong else list(zip(itertools.cycle(listed), range(asked.seeds)))
    found = []
    for sampler, seed in turns:
        found.append(check_one(sampler, seed, 20.0 if asked.wrong else asked.seconds))
        if asked.wrong or not found[-1]["ok"]:
            print(json.dumps(found[-1]), flush=True)
        if asked.out is not None:
            asked.out.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
    passed = sum(one["ok"] for one in found)
    print(f"{passed} of {len(found)} pass, {sum(one['draws'] for one in found):,} draws")
    return int(passed != (0 if asked.wrong else len(found)))


if __name__ == "__main__":
    raise SystemExit(main())
