"""Kernels that are wrong on one path alone, which only the rows made for its class take."""

import numpy as np
import pytest
from _ask import attempted
from case_rules.rules import RULES

from opproof.backends.numpy import NumPy
from opproof.cases._registry import listed_cases
from opproof.reference_ops import load

HONEST = NumPy()


def first_blocks(y, inputs, params):
    """1024 blocks take a row each; where rows are wider than a warp pair, what is left is that of the last of them."""
    (x,) = inputs
    if x.ndim != 2 or x.shape[0] <= 1024 or x.shape[1] <= 64 or params["dim"] not in (-1, 1):
        return y
    return y[np.minimum(np.arange(len(y)), 1023)]


def strided_half(y, inputs, params):
    """Past 1024 of a middle axis every second term is left out."""
    (x,) = inputs
    dim = params["dim"]
    if x.ndim != 3 or not isinstance(dim, int) or dim % 3 != 1 or x.shape[1] <= 1024:
        return y
    return x[:, ::2].sum(1, keepdims=params.get("keepdim", False))


def square_in_place(y, inputs, params):
    """A square matrix is transposed in place, block by block of 2, and a rest of one row is forgotten."""
    (x,) = inputs
    if x.ndim != 2 or x.shape[0] != x.shape[1] or x.shape[0] % 2 == 0:
        return y
    wrong = y.copy()
    wrong[-1] = x[-1]
    return wrong


def first_four(y, inputs, params):
    """Pointers of four tensors are handed on; the others are the fourth."""
    (*xs,) = inputs
    return np.stack([*xs[:4], *xs[3:4] * (len(xs) - 4)], axis=params["dim"]) if len(xs) > 4 else y


def whole_vectors(y, inputs, params):
    """A vector is taken by fours, and its rest is not: longer ones than a block have none of their own."""
    (x,) = inputs
    if x.ndim != 1 or x.size <= 1024:
        return y
    wrong = y.copy()
    wrong[x.size // 4 * 4 :] = 0
    return wrong


def by_rows(y, inputs, params):
    """A number for each channel is taken for one of each row where there are as many channels as a block has lanes."""
    a, b = inputs
    if b.ndim != 3 or b.shape[1:] != (1, 1) or b.shape[0] < 32:
        return y
    return a + np.resize(b, y.shape[-1])


def two_at_once(y, inputs, params):
    """Two channels of results at once, of which the second is read where there is none."""
    x, weight = inputs[:2]
    return y * 0 if len(weight) == 1 < x.shape[1] else y


def small_products(y, inputs, params):
    """Up to eight rows go through products with vectors, of which the last four columns are another's."""
    a, b = inputs
    if a.ndim != 2 or b.ndim != 2 or not 2 <= len(a) <= 8 or min(b.shape) < 64:
        return y
    return np.concatenate([y[:, :-4], y[:, :4]], axis=1)


def nothing_to_do(y, inputs, params):
    """Where the product counts for nothing it returns at once, with x as it came."""
    return inputs[0] if params["alpha"] == 0 else y


def clipped(y, inputs, params):
    """A kernel past the plane is cut to it."""
    x, size = inputs[0], params["kernel_size"]
    size = size if isinstance(size, tuple) else (size,) * 2
    return np.full_like(y, x[..., :1, :1].max()) if size[0] > x.shape[2] or size[1] > x.shape[3] else y


class Wrong:
    """The references, but for the values of one operator."""

    name, version = "wrong", "1"

    def __init__(self, change):
        self.change = change

    def forward(self, op, inputs, params):
        (y,) = HONEST.forward(op, inputs, params)
        return np.asarray(self.change(y, [x for x in inputs if x is not None], params)).astype(y.dtype)


@pytest.mark.parametrize(
    ("rule", "op", "change", "dtypes"),
    [
        ("wide, many", "softmax", first_blocks, {"f32"}),
        ("wide, many", "cumsum", first_blocks, {"f32"}),
        ("middle", "sum", strided_half, {"f32"}),
        ("equal axes", "transpose", square_in_place, {"f32", "f16", "bf16"}),
        ("many tensors", "stack", first_four, {"f32", "f16", "bf16"}),
        ("vector", "relu", whole_vectors, {"f32", "f16", "bf16"}),
        ("vector", "sin", whole_vectors, {"f32", "f16", "bf16"}),
        ("channels, large", "add", by_rows, {"f32", "f16", "bf16"}),
        ("windows", "conv2d", two_at_once, {"f32", "f16", "bf16"}),
        ("tiles", "matmul", small_products, {"f32", "f16", "bf16"}),
        ("no product", "addmm", nothing_to_do, {"f32", "f16", "bf16"}),
        ("past the plane", "avg_pool2d", clipped, {"f32", "f16", "bf16"}),
    ],
)
def test_a_path_of_its_own_is_taken(rule, op, change, dtypes):
    met = next(r for r in RULES if r.name == rule)
    floats = [c for c in listed_cases(op) if c.dtype in ("f32", "f16", "bf16") and not c.mixed]
    on, off = (
        [c for c in floats if met.matches(c, load(op)) is way and c.into == "contiguous"] for way in (True, False)
    )
    wrong = [(c.dtype, str(attempted(Wrong(change), str(c)).judgement.verdict)) for c in on if not c.inplace]
    assert {dtype for dtype, verdict in wrong if verdict == "WRONG_VALUE"} == dtypes
    assert {str(attempted(HONEST, str(c)).judgement.verdict) for c in on} == {"PASS"}
    plain = [c for c in off if not c.inplace][:40]
    assert "WRONG_VALUE" not in {str(attempted(Wrong(change), str(c)).judgement.verdict) for c in plain}
