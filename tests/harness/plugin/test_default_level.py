"""The fixture's default level finds every wrong number that is planted in the example C library; smoke does not."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from _c_build import example, needs_cc

from opproof.backends.c.library import load
from opproof.harness.plugin.fixture import judge
from opproof.reference_ops import load as load_op

pytestmark = needs_cc

#: Every defect that gives wrong numbers: the operator, the dtype, and of its standard cases those that are enough.
DEFECTS = {
    "tail": ("add", "f32", "7x33"),
    "mul_no_reduce": ("mul", "f32", "1x3"),
    "sigmoid_nan": ("sigmoid", "f32", "candle"),
    "softmax_no_max": ("softmax", "f32", ""),
    "ignore_cotangent": ("relu", "f32", "7x33"),
    "gelu_tanh": ("gelu", "f32", "7x33"),
    "wrong_stride": ("matmul", "f32", "layout"),
    "wrong_axis": ("softmax", "f32", ""),
    "no_dilation": ("conv2d", "f32", "dilation and layout"),
    "narrow_sum": ("sum", "bf16", "7x33"),
    "unwritten": ("relu", "f32", "7x33"),
    "uncovered": ("conv2d", "f32", "stride=2;groups=2"),
}
#: Those that pass every case of smoke.
PASSING = {"softmax_no_max", "wrong_stride", "wrong_axis", "no_dilation"}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    return example(tmp_path_factory.mktemp("broken"), broken=True)


def functions(library, op):
    """The library's operator and its gradient as functions of arrays."""
    reference = load_op(op)

    def forward(*tensors, **params):
        y = np.full(np.shape(reference.forward(*tensors, **params)), np.nan, tensors[0].dtype)
        library.forward_into(op, list(tensors), params, [y])
        return y

    def vjp(g, *tensors, **params):
        found = [None if x is None else np.full(x.shape, np.nan, x.dtype) for x in tensors]
        library.vjp_into(op, list(tensors), params, [g], found)
        return tuple(found)

    return forward, vjp


@pytest.mark.parametrize("defect", DEFECTS)
def test_every_planted_defect_is_found(broken, tmp_path, monkeypatch, defect):
    op, dtype, keyword = DEFECTS[defect]
    monkeypatch.setenv("OPPROOF_DEFECT", defect)
    forward, vjp = functions(load(shutil.copy(broken, tmp_path / f"lib{defect}.so")), op)
    given = {"vjp": vjp, "dtypes": dtype}
    assert "failed" in judge(forward, op, {**given, "keyword": keyword}).objection
    if defect in PASSING:
        assert judge(forward, op, {**given, "level": "smoke"}).objection == ""
