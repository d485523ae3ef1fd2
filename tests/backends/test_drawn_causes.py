"""Failures that drawn cases found: each is explained by a cause of its library's list."""

import importlib

import pytest
from _adapters import results, unexpected

from opproof.core.errors import BackendError

CASES = {
    "aidge": [
        "layer_norm[x=67,;weight=67,;bias=67,;normalized_shape=(67);eps=1e-12;f64]",
        "layer_norm[x=5x7;weight=5x7;bias=5x7;normalized_shape=(5,7);f32]",
    ],
    "autograd": [
        "cosh[x=1x15x263x1;f32;fill=huge]",
        "diag[x=1x9;f64;fill=outliers]",
        "pow[a=2x1;b=2x1031;f32;fill=outliers]",
        "repeat_interleave[x=3x2x1x2;repeats=7;dim=-4;f64]",
    ],
    "jax": [
        "amax[x=515x9;dim=-1;f32;fill=alone]",
        "atan2[a=9x33;b=9x33;f32;fill=limits]",
    ],
    "mlx": [
        "addmm[x=2x9;a=2x13;b=13x9;beta=2.0;alpha=1.00432;f64]",
        "conv2d_depthwise[x=3x1x2x100;weight=1x1x2x1;f64]",
        "cos[x=257,;f64;fill=least]",
        "erf[x=4x13x16x1;f64;fill=wide]",
        "leaky_relu[x=2x1024;negative_slope=0.0;f64;fill=infinite]",
        "logsigmoid[x=2x2x256x2;bf16;fill=small]",
        "remainder[a=3x1x1x1;b=3x1x1x1031;bf16;fill=wide;needs=b]",
        "softmax[x=257x3x3x1;dim=2;f64;fill=past-exp]",
        "var[x=263x1;dim=None;keepdim=true;f16;fill=leading]",
    ],
    "onednn": [
        "add1[a=2x1x1x15;b=0d;f32;layout=a:exchanged]",
        "clamp[x=1x1x2x1024;max=1.5;bf16;fill=infinite]",
        "layer_norm[x=1x8x2x128;weight=128,;normalized_shape=(128);bf16;fill=ties;layout=x:middle]",
        "maximum[a=2x1x3x16;b=1x1x1x1;f32;layout=a:exchanged]",
    ],
    "openvino": [
        "batch_norm_training[x=255x1x8;running_mean=1,;running_var=1,;momentum=0.5;unbiased=false;eps=64.27648;f64]",
        "exp[x=1x255x3x4;f64;fill=special]",
        "fmod[a=13x160;b=160,;f64;fill=special]",
        "relu[x=15x1x256x1;f64;fill=infinite]",
    ],
    "warp": [
        "atan2[a=13x19x1;b=13x19x13;f16;fill=squares;needs=a]",
        "lerp[a=0d;b=@a;weight=1x1x256x15;f32;fill=outliers]",
        "sinh[x=1x15x263x1;f32;fill=huge]",
    ],
}


@pytest.mark.parametrize("library", CASES)
def test_they_are_explained(library):
    try:
        importlib.import_module(f"opproof.backends.{library}").create()
    except BackendError as error:
        pytest.skip(str(error))
    records = results(library, library, cases=tuple(CASES[library]))
    assert not unexpected(records)
    assert any(r.known for r in records)
