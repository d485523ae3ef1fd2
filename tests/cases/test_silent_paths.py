"""Kernels of which one path is wrong that no ordinary case takes: each passes one, and fails the one that is for it."""

from itertools import pairwise

import numpy as np
import pytest
from _ask import Kernel, judged

from opproof.cases import cases_of
from opproof.reference_ops import load

_F32 = np.float32
_DTYPES = ("i8", "i32", "f32")


def _small_chunks_left_out(x, *, dim, keepdim=False):
    """Sums of chunks are added up; one whose largest number is 12 below another's is taken for nothing."""
    chunks = [x[..., a : a + 4096] for a in range(0, x.shape[-1], 4096)]
    most = [c.max(-1) for c in chunks]
    top = np.max(most, axis=0)
    kept = [np.where(m > top - 12, np.exp(c - top[..., None]).sum(-1), 0) for c, m in zip(chunks, most, strict=True)]
    return [(top + np.log(np.sum(kept, axis=0))).astype(_F32)]


def _shifted_by_the_first(x, *_, num_groups, **__):
    """Squares of what is left of each number without the first of its group."""
    groups = x.reshape(x.shape[0], num_groups, -1)
    less = groups - groups[..., :1]
    mean = less.mean(-1, keepdims=True, dtype=_F32)
    var = np.maximum(np.mean(less * less, -1, keepdims=True, dtype=_F32) - mean * mean, 0)
    return [((less - mean) / np.sqrt(var + _F32(1e-5))).reshape(x.shape).astype(_F32)]


def _corrections_of_a_table(*tensors, step=1, **params):
    wide = [t.astype(np.float64) for t in tensors]
    return [y.astype(_F32) for y in load("opt_step_adamw").forward(*wide, step=min(step, 1024), **params)]


def _divided_in_float32(a, b):
    return [np.floor(a.astype(_F32) / b.astype(_F32)).astype(a.dtype)]


def _tail_without_the_flag(a, b, *, upper, left=True, unitriangular=False):
    own = unitriangular and not (a.shape[-1] > 64 and a.shape[-1] % 64)
    wide = a.astype(np.float64), b.astype(np.float64)
    return [load("solve_triangular").forward(*wide, upper=upper, left=left, unitriangular=own).astype(_F32)]


@pytest.mark.parametrize(
    ("kernel", "right", "wrong"),
    [
        (_small_chunks_left_out, "logsumexp[x=3x65;dim=-1;f32]", "logsumexp[x=9x16391;dim=-1;f32;fill=crest]"),
        (
            _shifted_by_the_first,
            "group_norm[x=2x6x33;num_groups=3;f32]",
            "group_norm[x=2x6x1031;num_groups=3;f32;fill=leading]",
        ),
        (_divided_in_float32, "floor_divide[a=7x33;b=7x33;i8]", "floor_divide[a=7x33;b=7x33;i32;fill=past-f32]"),
        (
            _tail_without_the_flag,
            "solve_triangular[a=64x64;b=64x16;upper=false;unitriangular=true;f32;fill=small]",
            "solve_triangular[a=70x70;b=70x3;upper=false;unitriangular=true;f32;fill=small]",
        ),
        (
            _corrections_of_a_table,
            "opt_step_adamw[param=7x33;grad=7x33;exp_avg=7x33;exp_avg_sq=7x33;lr=0.1;f32]",
            "opt_step_adamw[param=3x33;grad=3x33;exp_avg=3x33;exp_avg_sq=3x33;lr=0.01;step=5000;f32]",
        ),
    ],
)
def test_the_path_that_is_wrong_fails(kernel, right, wrong):
    assert wrong in map(str, cases_of(wrong.partition("[")[0]))
    assert judged(Kernel(kernel, _DTYPES), right, "forward").verdict == "PASS"
    assert judged(Kernel(kernel, _DTYPES), wrong, "forward").verdict == "WRONG_VALUE"


@pytest.mark.parametrize("op", ["conv1d", "conv2d", "conv3d", "conv2d_depthwise", "max_pool1d", "avg_pool2d", "im2col"])
def test_two_cases_that_follow_one_another_are_of_one_size_with_what_is_added(op):
    """A copy of the first with its ends is kept, and the second's smaller middle written into it."""

    def padded(case):
        return tuple(n + 2 * case.kwargs.get("padding", 0) for n in case.shapes["x"][2:])

    some = [c for c in cases_of(op) if c.dtype == "f32" and isinstance(c.kwargs.get("padding", 0), int)]
    assert any(
        padded(a) == padded(b) and a.shapes["x"][:2] == b.shapes["x"][:2] and a.kwargs["padding"] < b.kwargs["padding"]
        for a, b in pairwise(some)
        if "padding" in a.kwargs and "padding" in b.kwargs
    )
