"""The causes of PyTorch's known failures that drawn cases found: each explains PyTorch's answer, and no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _ask import attempted

import opproof.backends
from opproof.backends.torch import create
from opproof.backends.torch.causes import add_up_by_halves, where_weights_meet_padding_alone
from opproof.harness.judge.causes import find_causes
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.known_failures.known import read_known

ENTRIES = read_known(Path(opproof.backends.__file__).parent / "torch" / "known.toml")

#: A case, its mode, and the first words of its cause.
FAILING = {
    "addcdiv[x=13x1x1x256;a=1x1x1x256;b=1x1x1x256;value=2.0;f16;fill=extreme]": ("gradient", "forward=STORED"),
    "batch_norm[x=1x15x256x1x1;running_mean=15,;running_var=15,;weight=15,;training=true;eps=0.1;f32;fill=ties"
    ";layout=x:middle,weight:broadcast]": ("gradient", "vjp=read_cotangent"),
    "batch_norm[x=1x1x65535;training=true;f16;fill=positive;layout=x:sliced]": ("gradient", "forward=STORED"),
    "bce_with_logits[x=8x2x2x61;target=8x2x2x61;pos_weight=61,;f16;fill=far;layout=x:transposed,target:channels"
    ",pos_weight:offset;needs=target;seed=2]": ("gradient", "forward=STORED"),
    "cross_entropy[x=1x15x17x13;target=1x17x13;label_smoothing=0.3;f16;fill=past-exp]": ("forward", "forward=STORED"),
    "exp2[x=255x13;f32;fill=huge]": ("gradient", "forward=STORED"),
    "fmod[a=0d;b=263x1x1x13;f16;fill=extreme;layout=b:gapped]": ("gradient", "forward=STORED"),
    "floor_divide[a=1x8x1x129;b=1x8x1x129;bf16;fill=huge;layout=a:sliced,b:gapped]": ("forward", "arithmetic=storage"),
    "grid_sample[x=1x1x256x1;grid=1x1x48x2;padding_mode=zeros;align_corners=true;f16;fill=outliers"
    ";layout=x:loose,grid:exchanged;needs=x]": (
        "gradient",
        "undefined=where_positions",
    ),
    "hypot[a=8x8x1x1;b=8x8x1x48;f16;fill=small]": ("gradient", "forward=STORED"),
    "index_add[x=1x8;index=192,;source=192x8;dim=0;alpha=2.0;bf16;fill=small]": ("forward", "arithmetic=dtype"),
    "kl_div[x=8x17x1x8;target=8x17x1x8;reduction=mean;f16;fill=brink;layout=x:permuted,target:cropped;needs=target]": (
        "gradient",
        "forward=",
    ),
    "logcumsumexp[x=1x65536;dim=-1;f64;fill=outliers]": ("gradient", "forward=STORED"),
    "prod[x=1x31x2x31;dim=3;f16;fill=outliers;layout=x:cropped;seed=1]": ("gradient", "forward=STORED"),
    "softplus[x=1x255x2x8;threshold=100.0;bf16;fill=huge;layout=x:gapped;seed=1]": ("gradient", "forward=OVERFLOWING"),
}


@pytest.mark.parametrize(("text", "mode", "cause"), [(text, *found) for text, found in FAILING.items()])
def test_a_cause_explains_pytorchs_answer_and_no_other(text, mode, cause):
    known = [e for e in ENTRIES if not e.seen_on]
    made = attempted(create(), text, mode)
    seen = judge(made.posed, made.answer, Rules())
    assert seen.verdict in ("WRONG_VALUE", "WRONG_GRADIENT")
    assert any(c.startswith(cause) for c in find_causes(known, made.posed, seen, Rules()))
    for wrong in (np.zeros_like, lambda y: np.where(np.isfinite(y), -y, 1)):
        arrays = [None if y is None else np.asarray(wrong(y), y.dtype) for y in made.answer.arrays]
        other = judge(made.posed, replace(made.answer, arrays=arrays), Rules())
        assert other.verdict in ("WRONG_VALUE", "WRONG_GRADIENT")
        assert [c for c in find_causes(known, made.posed, other, Rules()) if ": " not in c] == []


def find_unwritten(text):
    (_, weight, *_) = where_weights_meet_padding_alone(attempted(create(), text, "gradient").posed)
    return [tuple(map(int, place)) for place in np.argwhere(weight[0, 0])]


def test_weights_that_meet_padding_alone_are_those_of_the_last_axis_with_a_stride():
    case = "conv2d[x=4x16x1x1;weight=2x16x3x3;stride={};padding=1;bf16]"
    assert find_unwritten(case.format(2)) == [(0, 0), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2)]
    assert find_unwritten(case.format(1)) == []  # written with zeros, as all without a stride
    assert find_unwritten("conv1d[x=4x16x4;weight=2x16x2;stride=2;padding=1;bf16]") == []


def test_a_sum_of_halves_is_off_by_what_each_half_loses_in_storing():
    halves = np.full(4, 1 + 2.0**-11)  # each pair of which is 2 in float16
    of_a, of_b = add_up_by_halves(halves, None, halves, np.zeros(1))
    assert np.array_equal(of_a, halves)
    assert of_b.tolist() == [halves.sum()]
