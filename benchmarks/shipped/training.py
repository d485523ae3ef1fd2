"""Losses and optimisers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from bug import Bug, Call

from opproof.reference_ops import load


def _ignored_rows(call: Call) -> list[Any] | None:
    x, target, part = call["x"], call["target"], call["label_smoothing"]
    ignored = target == call["ignore_index"]
    if part == 0 or not ignored.any() or x.ndim != 2 or call["weight"] is not None or call["reduction"] == "none":
        return None
    top = x.max(1, keepdims=True)
    logs = x - top - np.log(np.exp(x - top).sum(1, keepdims=True))
    more = -part / x.shape[1] * logs[ignored].sum()
    return call.stored(call.honest()[0] + (more / (~ignored).sum() if call["reduction"] == "mean" else more))


def _first_row(call: Call) -> list[Any] | None:
    g = call.g
    if call["reduction"] != "none" or g.size == 0:
        return None
    return replace(call, cotangents=[np.full_like(g, g.ravel()[0])]).honest()


def _zero_targets(call: Call) -> list[Any] | None:
    target, (y,) = call["target"], call.honest()
    if call["log_target"]:
        return None
    zero = target == 0
    return [np.where(zero if y.ndim else zero.any(), y.dtype.type(np.nan), y)]


def _no_target(call: Call) -> list[Any]:
    return call.instead("target", np.zeros_like(call["target"]))


def _decayed_after(call: Call) -> list[Any]:
    rest = call.honest(weight_decay=0.0)
    return [*call.stored(rest[0].astype(np.float32) * np.float32(1 - call["lr"] * call["weight_decay"])), *rest[1:]]


def _decoupled(call: Call) -> list[Any]:
    return replace(call, op=load("opt_steps_adamw")).honest()


def _uncorrected(call: Call) -> list[Any]:
    return call.honest(step=10**7)


def _scaled_eps(call: Call) -> list[Any]:
    return call.honest(eps=call["eps"] / (1 - call["beta2"] ** call["step"]) ** 0.5)


BUGS = [
    Bug("cross_entropy", "pytorch/pytorch/issues/73205", "ignored rows count in the uniform part", _ignored_rows),
    Bug("linear_cross_entropy", "linkedin/Liger-Kernel/issues/968", "unreduced, the first row's cotangent for all",
        _first_row, "gradient"),
    Bug("kl_div", "linkedin/Liger-Kernel/pull/262", "a target of 0 gives NaN", _zero_targets),
    Bug("kl_div", "pytorch/pytorch/issues/65466", "the target's gradient is 0", _no_target, "gradient"),
    Bug("opt_step_adamw", "bitsandbytes-foundation/bitsandbytes/pull/2040", "decay after the step", _decayed_after),
    Bug("opt_steps_adam", "flagos-ai/FlagGems/issues/4988", "decay as AdamW's", _decoupled),
    Bug("opt_steps_adam", "ml-explore/mlx/pull/1640", "no bias correction", _uncorrected),
    Bug("opt_step_adamw", "aiqm/torchani/pull/261", "eps is divided by the root of the correction", _scaled_eps),
]  # fmt: skip
