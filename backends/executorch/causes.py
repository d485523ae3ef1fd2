"""What ExecuTorch computes where it is known to fail: see known.toml."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.special


def _correct_bias(beta: float, step: int) -> float:
    """1 - beta^step where each of the two is a float32, as an exported optimiser has them."""
    return float(np.float32(1) - np.float32(beta) ** np.float32(step))


def step_with_rounded_corrections(
    param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any, *, lr: float, beta1: float, beta2: float, eps: float,
    weight_decay: float, step: int,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Take one step of AdamW whose corrections of bias are rounded to float32."""
    m = beta1 * exp_avg + (1 - beta1) * grad
    v = beta2 * exp_avg_sq + (1 - beta2) * (grad * grad)
    size = np.sqrt(v / _correct_bias(beta2, step)) + eps
    return param * (1 - lr * weight_decay) - lr * (m / _correct_bias(beta1, step)) / size, m, v


def step_adam_with_rounded_corrections(
    param: Any, grads: Any, exp_avg: Any, exp_avg_sq: Any, *, weight_decay: float, step: int, decoupled: bool = False,
    **rates: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Take the steps of Adam, whose decay is part of the gradient; `decoupled`: of AdamW, whose decay is beside it."""
    for i in range(len(grads)):
        grad, beside = (grads[i], weight_decay) if decoupled else (grads[i] + weight_decay * param, 0.0)
        param, exp_avg, exp_avg_sq = step_with_rounded_corrections(
            param, grad, exp_avg, exp_avg_sq, weight_decay=beside, step=step + i, **rates
        )
    return param, exp_avg, exp_avg_sq


ROUNDED_CORRECTIONS = {
    "opt_step_adamw": step_with_rounded_corrections,
    "opt_steps_adam": step_adam_with_rounded_corrections,
    "opt_steps_adamw": partial(step_adam_with_rounded_corrections, decoupled=True),
}


def keep_sign_of_dividend(a: Any, b: Any) -> Any:
    """Give the remainder that C has."""
    return np.fmod(a, b)


def rescale_by_remainder_of_c(
    x: Any, multiplier: Any, shift: Any, *, input_zero_point: int, output_zero_point: int, bits: int, signed: bool,
    double_round: bool,
) -> Any:  # fmt: skip
    """Round up where the remainder is half or more: never below zero, where C's has the dividend's sign."""
    wide, factors, places = (np.asarray(t).astype(np.int64) for t in (x, multiplier, shift))
    values, unit = wide - input_zero_point, np.left_shift(1, places)
    extra = np.where(values >= 0, 2**30, -(2**30)) if double_round else np.zeros_like(values)
    product = values * factors + np.where(places > 31, extra, 0)
    y = np.floor_divide(product, unit) + (np.fmod(product, unit) >= unit // 2)
    ends = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return np.clip(y + output_zero_point, *ends)


REMAINDER_OF_C = {"remainder": keep_sign_of_dividend, "rescale": rescale_by_remainder_of_c}


def forget_approximate(x: Any, *, approximate: str) -> Any:
    """Evaluate gelu by erf, whatever is asked."""
    del approximate
    return x * (1 + scipy.special.erf(x / np.sqrt(2))) / 2
