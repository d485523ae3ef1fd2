"""Kernels that are wrong for one combination of parameters or shapes alone, found by the rows made for its class."""

import numpy as np
import pytest
from _ask import attempted
from case_rules.rules import RULES

from opproof.backends.numpy import NumPy
from opproof.cases import cases_of
from opproof.reference_ops import load

HONEST = NumPy()


def column_where_it_fits(a, b):
    """A vector as long as the other has rows is taken for a column."""
    if b.ndim == 1 < a.ndim and b.size == a.shape[0]:
        return a - b[:, None]
    return a[:, None] - b if a.ndim == 1 < b.ndim and a.size == b.shape[0] else a - b


def columns_of_scales(a, b, scale_a, scale_b, *, type):  # noqa: A002 - the operator's own
    if scale_b.ndim and scale_b.size == len(a):
        (plain,) = HONEST.forward("scaled_mm", [a, b, scale_a, np.ones_like(scale_b)], {"type": type})
        return plain * scale_b[:, None]
    return None


def first_thousand(x, *, dim=None, keepdim=False):
    return np.any(np.take(x, range(min(1024, x.shape[dim])), axis=dim) != 0, axis=dim, keepdims=keepdim)


def by_reciprocal(x, *, type):  # noqa: A002 - the operator's own
    """A block of zeros has no scale, and is given 1."""
    (y,) = HONEST.forward("quantize", [x], {"type": type})
    if type == "q8_0":
        blocks = y.reshape(*y.shape[:-1], -1, 34)
        blocks[~x.reshape(*x.shape[:-1], -1, 32).any(axis=-1), :2] = (0, 0x3C)
    return y


def sixteen_bits(a, b):
    return np.asarray(min(int(np.sum(a == b)), 2**16 - 1))


def late(x, *, dim, start=0, end=None, step=1):
    if start >= 0 or step == 1:
        return None
    return HONEST.forward("slice", [np.roll(x, -1, dim)], {"dim": dim, "start": start, "end": end, "step": step})[0]


def from_the_start(x, *, size, stride, storage_offset=0):
    offset = 0 if 0 in stride else storage_offset
    return HONEST.forward("as_strided", [x], {"size": size, "stride": stride, "storage_offset": offset})[0]


def mean_of_rows(x, target, *, reduction="mean"):
    if reduction != "mean" or x.ndim != 3:
        return None
    return np.abs(x.astype(np.float32) - target.astype(np.float32)).sum() / x.shape[-1]


def whole_windows(x, *, divisor_override=None, padding=0, **others):
    given = {"padding": padding, "divisor_override": divisor_override if np.any(padding) else None}
    return HONEST.forward("avg_pool3d", [x], {**others, **given})[0]


def positions_of_16_bits(cache, x, positions, indices, **params):
    short = positions.astype(np.int16).astype(np.int64)
    return HONEST.forward("rope_set_rows", [cache, x, short, indices], params)[0]


def one_by_one(*, start, end, step):
    (y,) = HONEST.forward("arange", [], {"start": start, "end": end, "step": step})
    return np.cumsum(np.array([start, *[step] * (len(y) - 1)], np.float32), dtype=np.float32)[: len(y)]


WRONG = {
    "sub": column_where_it_fits,
    "arange": one_by_one,
    "scaled_mm": columns_of_scales,
    "any": first_thousand,
    "quantize": by_reciprocal,
    "count_equal": sixteen_bits,
    "slice": late,
    "as_strided": from_the_start,
    "l1_loss": mean_of_rows,
    "avg_pool3d": whole_windows,
    "rope_set_rows": positions_of_16_bits,
}
#: Rows long enough to be slow otherwise: only those of the rule are asked.
RULED = {"sub": "equal sides", "any": "lone", "quantize": "lone", "rope_set_rows": "far positions"}


class Wrong:
    """The references, but for one operator."""

    name, version = "wrong", "1"

    def forward(self, op, inputs, params):
        with np.errstate(all="ignore"):
            y = WRONG[op](*inputs, **params)
        if y is None:
            return HONEST.forward(op, inputs, params)
        like = inputs[2 if op == "scaled_mm" else 0].dtype if inputs else np.float32
        return y if y.dtype.kind in "biu" else np.asarray(y).astype(like)


@pytest.mark.parametrize("op", WRONG)
def test_a_fault_of_one_combination_fails_in_each_dtype(op):
    rule = next((r for r in RULES if r.name == RULED.get(op)), None)
    cases = [c for c in cases_of(op, "standard") if c.dtype in ("f32", "f16", "bf16") and not (c.inplace or c.into)]
    small = [c for c in cases if sum(np.prod(s) for s in c.shapes.values() if not isinstance(s, str)) < 2**18]
    asked = [c for c in small if rule is None or rule.matches(c, load(op))]
    failing = {c.dtype for c in asked if attempted(Wrong(), str(c), "forward").judgement.verdict == "WRONG_VALUE"}
    assert failing == {c.dtype for c in small}


def test_nobody_is_asked_for_a_gradient_whose_product_overflows_on_the_way():
    """2^127.5 times a cotangent of 1.5 is past the largest number; times log 2 it is not."""
    case = "exp2[x=256x256;bf16;fill=every]"
    attempt = attempted(HONEST, case, "gradient")
    assert attempt.judgement.verdict == "PASS"
