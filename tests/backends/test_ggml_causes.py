"""The causes of ggml's known failures: each explains what it computes, and no answer that is wrong beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from _ask import judged

import opproof.backends
from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.judge.causes import explains
from opproof.harness.judge.judgement import Rules
from opproof.harness.known_failures.causes import function_of
from opproof.harness.known_failures.known import read_known
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load

FOLDER = Path(opproof.backends.__file__).parent / "ggml"
ENTRIES = read_known(FOLDER / "known.toml")

FORWARD = """
    argmax[x=9x3;dim=-1;f32;fill=ties]
    argsort[x=5x33;dim=-1;f32;fill=ties]
    sort[x=5x66;dim=-1;descending=true;f32;fill=zeros]
    clamp[x=66,;min=0.5;max=2.0;f32;fill=special]
    hardtanh[x=66,;min_val=-2.0;max_val=-0.5;f16;fill=special]
    relu[x=66,;f32;fill=special]
    leaky_relu[x=66,;negative_slope=1.5;f32;fill=special]
    reglu[x=66,;f32;fill=special]
    hardsigmoid[x=66,;f32;fill=special]
    l2_norm[x=65x3;dim=-1;f32;fill=special]
    gelu[x=66x11;approximate=tanh;f32;fill=branches]
    gelu_quick[x=5x31;f32;fill=wide]
    geglu[x=66,;f32;fill=special]
    geglu_quick[x=5x62;swapped=true;f32;fill=wide]
    expm1[x=7x33;f32]
    softplus[x=127,;f32;fill=extreme]
    opt_step_adamw[param=7x33;grad=7x33;exp_avg=7x33;exp_avg_sq=7x33;lr=0.01;eps=0.1;weight_decay=0.1;step=3;f32]
    round[x=66,;f32;fill=kink]
    quantize[x=2x1056;type=q8_0;bf16]
    conv1d[x=2x3x9;weight=4x3x3;bias=4,;padding=1;f16]
    conv2d[x=2x3x7x9;weight=4x3x3x3;bias=4,;padding=1;f32]
    conv3d[x=1x2x4x5x6;weight=3x2x2x3x2;bias=3,;padding=1;f32]
    conv_transpose2d[x=2x3x5x4;weight=3x4x1x1;f32;layout=offset]
    count_equal[a=4x3x7;b=4x3x7;f32]
    upsample_nearest[x=2x1x1x270;size=(7,9);f32]
    upsample_bilinear[x=2x3x8x8;size=(9,9);align_corners=true;f32;fill=extreme]
    upsample_bicubic[x=1x255x1x15;size=(7,9);align_corners=true;f32;fill=extreme]
""".split()

GRADIENT = """
    add1[a=9,;b=1,;f32]
    as_strided[x=4x17;size=(3,4,2);stride=(17,0,1);f32;layout=gapped]
    cast[x=7x33;to=f16;f32;fill=wide]
    col2im[x=2x18x25;output_size=(6,7);kernel_size=(2,3);f32;fill=extreme]
    conv2d[x=2x3x7x9;weight=4x3x3x3;bias=4,;padding=1;f32]
    softmax_ext[x=2x3x7x3;keep=2x1x7x3;f32]
""".split()


def entry_of(case: str, key: str):
    """The entry of the case's operator that changes its formula."""
    op = case.partition("[")[0]
    return next(e for e in ENTRIES if op in e.operators and getattr(e, key))


class Changed:
    """A backend that computes by the formulas of an entry, and puts out `made` of each result."""

    name, version, device = "changed", "1", "cpu"

    def __init__(self, entry, made):
        self._entry, self._made = entry, made

    def forward(self, op, inputs, params):
        return self._all(function_of(str(FOLDER), self._entry.forward, op)(*_wide(inputs, op), **params), inputs)

    def vjp(self, op, inputs, params, cotangents, needs):
        formula, wide = function_of(str(FOLDER), self._entry.vjp, op), _wide(inputs)
        y = load(op).forward(*wide, **params)
        given = formula(_wide(cotangents)[0], y, *wide, **params)
        given = given if isinstance(given, tuple) else (given,)
        return [v if n else None for v, n in zip(self._all(given, inputs), needs, strict=True)]

    def _all(self, results, inputs):
        results = results if isinstance(results, tuple) else (results,)
        kind = next(x.dtype for x in inputs if x is not None)
        with np.errstate(all="ignore"):
            return [
                None
                if r is None
                else self._made(np.asarray(r, dtype=kind if np.asarray(r).dtype.kind == "f" else None))
                for r in results
            ]


def _wide(tensors, op=""):
    """In float64; as they are where digits that float64 still has are what is lost."""
    return [t if t is None or t.dtype.kind in "iub" or op == "expm1" else t.astype(np.float64) for t in tensors]


def is_explained(entry, case, mode, made):
    """Whether the entry explains the answer, which must fail."""
    with np.errstate(all="ignore"):
        judgement = judged(Changed(entry, made), case, mode)
    assert judgement.verdict in ("WRONG_VALUE", "WRONG_GRADIENT"), (judgement.verdict, judgement.message)
    parsed = Case.parse(case)
    return explains(entry, make_question(parsed, load(parsed.op), Mode(mode)).case_data, judgement, Rules())


@pytest.mark.parametrize(("case", "mode"), [*((c, "forward") for c in FORWARD), *((c, "gradient") for c in GRADIENT)])
def test_a_cause_explains_what_it_computes_and_nothing_beside_it(case, mode):
    entry = entry_of(case, "forward" if mode == "forward" else "vjp")
    assert is_explained(entry, case, mode, lambda y: y)
    if "vjp=give_zeros" in entry.cause:
        assert not is_explained(entry, case, mode, np.ones_like)
        return
    assert not is_explained(entry, case, mode, lambda y: 10 * y + 1)
    if not case.startswith(("count_equal", "arg")):
        assert not is_explained(entry, case, mode, lambda y: np.roll(y, 1, axis=-1) if y.ndim else y + 1)
