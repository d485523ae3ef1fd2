"""--grad-oracle self: a gradient against differences of the backend's own forward, and where that cannot tell."""

import numpy as np
import pytest
from _ask import OF_NUMBERS
from _ask import judged as judged_by

from opproof.backends.numpy import NumPy
from opproof.reports import read_results


class Altered(NumPy):
    """The references, their gradients and outputs changed by functions."""

    def __init__(self, gradient=lambda d: d, output=lambda y: y):
        super().__init__()
        self.gradient, self.output = gradient, output

    def forward(self, *call):
        return [self.output(y).astype(y.dtype) for y in super().forward(*call)]

    def vjp(self, *call):
        return [None if d is None else self.gradient(d).astype(d.dtype) for d in super().vjp(*call)]


def judged(text, **altered):
    found = judged_by(Altered(**altered), text, "gradient", single_call=True, grad_oracle="self")
    assert found.verdict in OF_NUMBERS, found.message
    return found


def first_row_doubled(d):
    return np.concatenate([2 * d[:1], d[1:]])


CASES = [
    "gelu[x=7x33;approximate=none;f32]",
    "softmax[x=4x33;dim=-1;f32;fill=wide]",
    "layer_norm[x=4x33;normalized_shape=(33);f32;layout=transposed]",
    "matmul[a=3x5;b=5x4;f32]",
    "mul[a=1x3;b=4x3;f32;layout=broadcast]",
    "sort[x=7x33;dim=-1;f32]",
    "relu[x=7x33;f32]",
    "masked_fill[x=7x33;mask=7x33;value=-inf;f32]",
    "exp[x=5x7;f64]",
]


@pytest.mark.parametrize("text", CASES)
def test_right_passes_and_wrong_fails(text):
    assert judged(text).verdict == "PASS"
    wrong = judged(text, gradient=lambda d: 1.05 * d)
    assert wrong.verdict == "WRONG_GRADIENT"
    assert abs(wrong.worst.got - wrong.worst.expected) > wrong.worst.bound
    assert judged(text, gradient=np.zeros_like).verdict == "WRONG_GRADIENT"
    assert judged(text, gradient=np.negative).verdict == "WRONG_GRADIENT"
    assert judged(text, gradient=first_row_doubled).verdict == "WRONG_GRADIENT"


def test_it_judges_the_backends_own_forward():
    """Another function than the reference: half the gradient is right for half the output."""
    half = {"output": lambda y: y / 2, "gradient": lambda d: d / 2}
    assert judged("exp[x=5x7;f32]", **half).verdict == "PASS"
    assert judged("exp[x=5x7;f32]", output=lambda y: y / 2).verdict == "WRONG_GRADIENT"


@pytest.mark.parametrize("text", ["gelu[x=7x33;approximate=none;bf16]", "relu[x=7x33;f32;fill=zeros]"])
def test_what_cannot_be_told_is_inconclusive(text):
    found = judged(text)
    assert (found.verdict, found.worst) == ("INCONCLUSIVE", None)
    assert found.message == "differences of the backend's own forward are too coarse here for the gradient of x"


def test_a_jump_is_no_evidence():
    found = judged("exp[x=7x33;f32]", output=lambda y: np.floor(y * 64) / 64)
    assert found.verdict == "INCONCLUSIVE"


def test_a_constant_has_no_gradient():
    assert judged("sign[x=7x33;f32]").verdict == "PASS"
    assert judged("sign[x=7x33;f32]", gradient=lambda d: d + 1).verdict == "WRONG_GRADIENT"


OP = '''
"""my_cube: x cubed. What the forward returns is looked at for its shape only."""

STANDARD = ["x=5x7;f32"]


def forward(x):
    return x * 0
'''
BACKEND = """
def forward(op, inputs, params):
    return inputs[0] ** 3


def vjp(op, inputs, params, cotangents, needs):
    return [{factor} * inputs[0] ** 2 * cotangents[0]]
"""


@pytest.mark.parametrize(("factor", "verdict", "status"), [(3, "PASS", 0), (2, "WRONG_GRADIENT", 1)])
def test_an_operator_without_a_reference(tmp_path, capsys, factor, verdict, status):
    from _runs import opproof

    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "my_cube.py").write_text(OP, encoding="utf-8")
    (tmp_path / "mine.py").write_text(BACKEND.format(factor=factor), encoding="utf-8")
    out = tmp_path / "report"
    options = ["--ops", tmp_path / "ops", "-o", "my_cube", "--mode", "gradient", "--grad-oracle", "self", "-j", "1"]
    found = opproof(capsys, "run", "-b", tmp_path / "mine.py", *options, "--out", out)
    assert found[0] == status, found
    (record,) = read_results(out)[1]
    assert record.verdict == verdict
    assert "--grad-oracle self" in record.repro
