"""Kernels that reach too short, in ranks, counts or places, or where special numbers meet: each rule finds its own."""

from dataclasses import dataclass

import numpy as np
import pytest
from _ask import attempted
from case_rules.rules import RULES

from opproof.backends.numpy import NumPy
from opproof.cases._registry import listed_cases
from opproof.reference_ops import load

HONEST = NumPy()
WRONG_VALUE, WRONG_GRADIENT = "WRONG_VALUE", "WRONG_GRADIENT"


def five_axes(y, inputs, params):
    """Past five axes the first is not walked."""
    return np.broadcast_to(y[:1], y.shape).copy() if y.ndim > 5 else y


def last_axis(y, inputs, params):
    """The weight is taken by the last axis where that fits."""
    x, weight = (t.astype(np.float32) for t in inputs)
    fits = x.ndim > 2 and weight.size == x.shape[-1]
    return np.where(x > 0, x, x * weight).astype(y.dtype) if fits else y


def by_difference(y, inputs, params):
    """Of two equal infinities the difference is NaN."""
    a, b = (t.astype(np.float32) for t in inputs)
    return np.where(np.isinf(a) & (a == b), np.nan, y).astype(y.dtype)


def origin(y, inputs, params):
    a, b = inputs
    return np.where((a == 0) & (b == 0), np.nan, y).astype(y.dtype)


def one_stage(y, inputs, params):
    """The second stage adds 256 partial sums of 256."""
    (x,) = inputs
    return np.asarray(x.ravel()[: 2**16].sum(), x.dtype) if params["dim"] is None and x.size > 2**16 else y


def sixteen_bits(y, inputs, params):
    return y % 2**16


def stored_sums(y, inputs, params):
    """Past 1024 terms of a mean, each is added to a sum that is stored in the dtype."""
    x, target = (t.astype(np.float32).ravel() for t in inputs)
    if params.get("reduction", "mean") != "mean" or x.size <= 1024:
        return y
    total = y.dtype.type(0)
    for term in (x - target) ** 2:
        total = y.dtype.type(np.float32(total) + term)
    return np.asarray(np.float32(total) / x.size).astype(y.dtype)


def first_of_two(g, inputs, params):
    """Of two axes apart the gradient of the first tensor is summed over one."""
    a, b = inputs
    axes = [i for i, n in enumerate(a.shape) if n == 1 < g.shape[i]] if a.ndim == g.ndim else []
    if len(axes) < 2:
        return None
    return np.take((g * b).sum(axes[0], keepdims=True), [0], axes[1])


def from_the_right(g, inputs, params):
    """The cotangent is broadcast from the right wherever that fits."""
    (x,) = inputs
    fits = not params.get("keepdim") and g.ndim < x.ndim and g.shape == x.shape[x.ndim - g.ndim :]
    return np.broadcast_to(g, x.shape).copy() if fits else None


def around_nan(y, inputs, params):
    """Descending, a NaN stays where it stands, and what is before and behind it is ordered each for itself."""
    (x,) = inputs
    if not params.get("descending"):
        return y
    parts = np.cumsum(np.isnan(x), axis=-1) * 2 - np.isnan(x)
    return np.lexsort((-x.astype(np.float32), parts), axis=-1)


@dataclass
class Wrong:
    """The references, but for the values, or the first gradient, of one operator."""

    values: object = None
    gradient: object = None
    name, version = "wrong", "1"

    def forward(self, op, inputs, params):
        (y,) = HONEST.forward(op, inputs, params)
        with np.errstate(all="ignore"):
            return y if self.values is None else np.asarray(self.values(y, inputs, params))

    def vjp(self, op, inputs, params, cotangents, needs):
        found = HONEST.vjp(op, inputs, params, cotangents, needs)
        first = self.gradient(cotangents[0], inputs, params)
        return found if first is None or not needs[0] else [first.astype(inputs[0].dtype), *found[1:]]


VALUES = [
    ("six axes", "add", five_axes, {"f32"}),
    ("six axes", "exp", five_axes, {"f32"}),
    ("channels, rows", "prelu", last_axis, {"f32", "f16", "bf16"}),
    ("special pairs", "logaddexp", by_difference, {"f32", "f16", "bf16"}),
    ("special pairs", "atan2", origin, {"f32", "f16", "bf16"}),
    ("special rows, turned", "argsort", around_nan, {"f32", "f16", "bf16"}),
    ("of all", "sum", one_stage, {"f32"}),
    ("late places", "argmin", sixteen_bits, {"f32"}),
    ("modes, long", "mse_loss", stored_sums, {"bf16", "f16"}),
]
GRADIENTS = [
    ("axes apart", "mul", first_of_two, {"f32"}),
    ("middle axis", "sum", from_the_right, {"f32", "f16", "bf16"}),
]


def verdicts(name, op, backend, mode):
    """Verdicts of the cases of a rule, by dtype."""
    rule = next(r for r in RULES if r.name == name)
    rows = [c for c in listed_cases(op) if rule.matches(c, load(op))]
    cases = [c for c in rows if c.into == "contiguous" and not c.inplace]
    floats = [c for c in cases if c.dtype in ("f32", "f16", "bf16")]
    return {(c.dtype, str(attempted(backend, str(c), mode).judgement.verdict)) for c in floats}


@pytest.mark.parametrize(("name", "op", "wrong", "dtypes"), VALUES)
def test_values_that_reach_too_short_fail(name, op, wrong, dtypes):
    failing = {d for d, v in verdicts(name, op, Wrong(values=wrong), "forward") if v == WRONG_VALUE}
    assert failing == dtypes
    assert {v for _, v in verdicts(name, op, HONEST, "forward")} == {"PASS"}


@pytest.mark.parametrize(("name", "op", "wrong", "dtypes"), GRADIENTS)
def test_gradients_that_reach_too_short_fail(name, op, wrong, dtypes):
    failing = {d for d, v in verdicts(name, op, Wrong(gradient=wrong), "gradient") if v == WRONG_GRADIENT}
    assert dtypes <= failing
    assert {v for _, v in verdicts(name, op, HONEST, "gradient")} == {"PASS"}
