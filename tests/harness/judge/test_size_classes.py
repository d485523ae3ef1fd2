"""Kernels that are wrong past a tile, past a table or at crossed bounds alone, and right in every smaller case.

Each has to fail by the rows of the rule of coverage that was made for its class, in each dtype by itself.
"""

import numpy as np
import pytest
from _ask import attempted
from case_rules.rules import RULES

from opproof.backends.numpy import NumPy
from opproof.cases._registry import listed_cases
from opproof.reference_ops import load

HONEST = NumPy()


def no_maximum(x, *, dim, keepdim=False):
    """Rows past 64 have a kernel of their own, which trusts in the exponential."""
    wide = np.asarray(x, np.float32)
    return np.log(np.sum(np.exp(wide), axis=dim, keepdims=keepdim)) if x.shape[dim] > 64 else None


def last_of_chunks(x, *, dim=None, keepdim=False):
    """Chunks of 32 put together with >= in place of >."""
    if dim != -1 or x.ndim != 2 or not x.shape[1] > 32:
        return None
    firsts = [np.argmax(x[:, i : i + 32], axis=1) + i for i in range(0, x.shape[1], 32)]
    best = firsts[0]
    for other in firsts[1:]:
        rows = np.arange(len(x))
        best = np.where(x[rows, other] >= x[rows, best], other, best)
    return best


def by_float16(weight, indices, *, padding_idx=None):
    """Numbers of rows as float16 holds them."""
    return weight[np.minimum(indices.astype(np.float16).astype(np.int64), len(weight) - 1)]


def by_int16(x, index, *, dim):
    """Places in memory as 16 bits hold them."""
    places = np.take_along_axis(np.arange(x.size).reshape(x.shape), index, dim)
    return x.ravel()[places.astype(np.uint16).astype(np.int64) % x.size]


def lower_wins(x, *, min=None, max=None):  # noqa: A002 - the operator's own
    return np.maximum(np.minimum(x, np.inf if max is None else max), -np.inf if min is None else min)


def squares(x, weight=None, bias=None, *, normalized_shape, eps=1e-5):
    """A variance that is E[x²] - E[x]²."""
    wide, last = x.astype(np.float32), tuple(range(-len(normalized_shape), 0))
    mean = np.mean(wide, axis=last, keepdims=True)
    var = np.maximum(np.mean(wide * wide, axis=last, keepdims=True) - mean * mean, 0)
    y = (wide - mean) / np.sqrt(var + np.float32(eps))
    return y * weight.astype(np.float32) + bias.astype(np.float32)


def log_of_zero(x, target, *, reduction="mean", log_target=False):
    """A class that is impossible costs 0 log 0."""
    x, t = x.astype(np.float32), target.astype(np.float32)
    loss = np.exp(t) * (t - x) if log_target else t * (np.log(t) - x)
    return {"none": lambda: loss, "sum": loss.sum, "mean": loss.mean, "batchmean": lambda: loss.sum() / len(x)}[
        reduction
    ]()


def never_shut(k, v, r, tf, td, state):
    """Decays of one token that are no less than a hundredth."""
    return HONEST.forward("wkv6", [k, v, r, tf, np.maximum(td, td.dtype.type(0.01)), state], {})


WRONG = {
    "logsumexp": (no_maximum, "past exp"),
    "argmax": (last_of_chunks, "ties, long"),
    "embedding": (by_float16, "far rows"),
    "gather": (by_int16, "far rows"),
    "clamp": (lower_wins, "crossed"),
    "layer_norm": (squares, "offset-1e3"),
    "kl_div": (log_of_zero, "brink"),
    "wkv6": (never_shut, "brink"),
}


class Wrong:
    """The references, but for one operator."""

    name, version = "wrong", "1"

    def __init__(self, op):
        self._op = op

    def forward(self, op, inputs, params):
        with np.errstate(all="ignore"):
            y = WRONG[op][0](*inputs, **params)
        if y is None:
            return HONEST.forward(op, inputs, params)
        return y if isinstance(y, list) or y.dtype.kind == "i" else y.astype(inputs[0].dtype)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("op", WRONG)
def test_a_fault_of_a_size_class_fails_in_each_dtype(op, dtype):
    rule = next((r for r in RULES if r.name == WRONG[op][1]), None)
    of_dtype = [c for c in listed_cases(op, "standard") if c.dtype == dtype]
    met = [c for c in of_dtype if (rule.matches(c, load(op)) if rule else c.fill == WRONG[op][1])]
    verdicts = {str(attempted(Wrong(op), str(c), "forward").judgement.verdict) for c in met}
    assert "WRONG_VALUE" in verdicts


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_a_quotient_past_int32_fails_where_it_wraps(dtype):
    def forward(op, inputs, params):
        x, scale, zero = (v.astype(np.float32) for v in inputs)
        low, high = (-128, 127) if params["type"] == "i8" else (0, 255)
        with np.errstate(all="ignore"):
            codes = np.rint(x / scale).astype(np.int64).astype(np.int32) + zero.astype(np.int32)
        return np.clip(codes, low, high).astype(np.int16).astype(np.uint8)

    wrapping = type("Wrapping", (), {"name": "w", "version": "1", "forward": staticmethod(forward)})()
    met = [c for c in listed_cases("quantize_linear", "standard") if c.fill == "past-int32" and c.dtype == dtype]
    assert {str(attempted(wrapping, str(c)).judgement.verdict) for c in met} == {"WRONG_VALUE"}


@pytest.mark.parametrize("op", ["dequantize_linear", "quantize_linear"])
def test_zero_points_are_of_the_whole_range(op):
    own = load(op)
    assert own.domain({}, type="i8")["zero_point"] == range(-128, 128)
    assert own.domain({}, type="u8")["zero_point"] == range(256)


def test_an_odd_number_of_groups_of_every_kind_of_scales():
    odd = set()
    for case in listed_cases("scaled_matmul", "standard"):
        scale = case.shapes["scale"]
        if len(scale) == 2 and scale[1] > 1 and scale[1] % 2:
            odd.add(case.kwargs.get("scales", "float"))
    assert odd >= {"f8e8m0", "f8e4m3"}
