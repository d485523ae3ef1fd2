"""Kernels that are wrong only where several sizes, or neighbouring axes, come together fail in some standard row."""

import numpy as np
import pytest
from _ask import judged

from opproof.cases import cases_of
from opproof.reference_ops import load


class Kernel:
    """What the reference says, but for inputs of certain shapes, which are spoilt before or answered apart."""

    name = "kernel"

    def __init__(self, when, wrong):
        self.when, self.wrong = when, wrong

    def forward(self, op, inputs, params):
        shapes = [np.shape(x) for x in inputs if x is not None]
        right = load(op).forward
        return [self.wrong(right, *inputs, **params) if self.when(*shapes, **params) else right(*inputs, **params)]


def _matmul_of(count):
    return lambda right, a, b: right(a[:, :count], b[:count])


def _linear_of(count):
    return lambda right, x, weight, *bias: right(x[:, :count], weight[:, :count], *bias)


def _past_128(a, b, *_):
    return len(a) == len(b) == 2 and min(*a, *b) > 128


def _tiles(a, b, *_):
    return len(a) == len(b) == 2 and a[0] % 128 == b[1] % 128 == 0 < a[1] % 32 and a[1] > 64


def _rows_of_tiles(x, weight, *_):
    return len(x) == 2 and x[0] % 128 == weight[0] % 128 == 0 < x[1] % 32 and x[1] > 64


def _ninth(right, a, b):
    y = right(a, b).copy()
    y[8:] = y[0]
    return y


def _channels(right, x, weight, *rest, **params):
    """A convolution that leaves out the channels past 64."""
    x = x.copy()
    x[:, 64:] = 0
    return right(x, weight, *rest, **params)


def _large(x, weight, *_, **__):
    return x[0] > 4 and x[1] > 64


def _many_long(x, *_, **__):
    return len(x) == 2 and x[0] > 16 and x[1] > 4096


def _tail(right, x, *rest, **params):
    """Rows past 16 are answered as if the numbers past 4096 were those of the first."""
    x = x.copy()
    x[16:, 4096:] = x[:1, 4096:]
    return right(x, *rest, **params)


def _scores(x, *, dim, **_):
    return len(x) > 2 and dim == -1 and 65 < x[-1] < 200


def _last_warp(right, x, *, dim):
    x = x.copy()
    x[..., 128:] = x[..., :1]
    return right(x, dim=dim)


def _neighbours(x, *, dim=None, **_):
    return isinstance(dim, tuple) and len(dim) > 1 and (np.diff(np.mod(dim, len(x))) == 1).all()


def _short(right, x, *, dim, **params):
    """Of several axes at once, the last of the last axis is left out."""
    return right(np.take(x, range(x.shape[dim[-1]] - 1), axis=dim[-1]), dim=dim, **params)


REDUCTIONS = ("sum", "mean", "amax", "amin", "norm", "var", "std", "logsumexp")

#: Operator, shapes and parameters at which the kernel is wrong, and how.
KERNELS = {
    "matmul, all past 128": ("matmul", _past_128, _matmul_of(256)),
    "matmul, whole tiles": ("matmul", _tiles, _matmul_of(64)),
    "bmm, a ninth matrix": ("bmm", lambda a, b: a[0] > 8, _ninth),
    "softmax, many long rows": ("softmax", _many_long, _tail),
    "log_softmax, many long rows": ("log_softmax", _many_long, _tail),
    "layer_norm, many long rows": ("layer_norm", _many_long, _tail),
    "rms_norm, many long rows": ("rms_norm", _many_long, _tail),
    "embedding, places of 16 bits": (
        "embedding",
        lambda weight, indices, **_: weight[0] > 2**16,
        lambda right, weight, indices, **params: right(weight, indices.astype(np.uint16), **params),
    ),
    **{
        f"linear, {name}": ("linear", when, _linear_of(count))
        for name, when, count in (("all past 128", _past_128, 256), ("whole tiles", _rows_of_tiles, 64))
    },
    **{
        f"{op}, a fifth image and 66 channels": (op, _large, _channels)
        for op in ("conv1d", "conv2d", "conv_transpose2d")
    },
    **{f"{op}, scores": (op, _scores, _last_warp) for op in ("softmax", "log_softmax")},
    **{
        f"{op}, the third of four axes": (
            op,
            lambda x, *, dim: len(x) == 4 and dim == 2,
            lambda right, x, *, dim: right(x, dim=3),
        )
        for op in ("softmax", "log_softmax")
    },
    **{f"{op}, neighbouring axes": (op, _neighbours, _short) for op in REDUCTIONS},
}


@pytest.mark.parametrize(("op", "when", "wrong"), KERNELS.values(), ids=KERNELS)
def test_a_kernel_fails_where_sizes_come_together(op, when, wrong):
    cases = [case for case in cases_of(op) if case.fill == "normal" and case.layout == "contiguous"]
    met = [case for case in cases if case.dtype in ("f32", "f16") and when(*case.shapes.values(), **case.kwargs)]
    assert met
    for case in met:
        assert judged(Kernel(when, wrong), str(case), "forward").verdict == "WRONG_VALUE", case


@pytest.mark.parametrize("op", REDUCTIONS)
def test_neighbouring_axes_are_met_in_16_bits_and_with_keepdim(op):
    met = {(case.kwargs.get("dim"), case.dtype, case.kwargs.get("keepdim", False)) for case in cases_of(op)}
    assert {((2, 3), "f16", False), ((1, 2), "bf16", True), ((0, 1), "f16", False)} <= met
