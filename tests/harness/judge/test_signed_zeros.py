"""Zeros of the other sign than IEEE 754-2019 has: wrong where they are asked for, and nothing without."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from _ask import judged
from _runs import completed

from opproof.backends.numpy import NumPy
from opproof.cases import cases_of
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.reference.question import make_question
from opproof.harness.run.task import Task, repro_command_of
from opproof.reference_ops import load, names

HONEST = NumPy()
DEFINED = [name for name in names() if load(name).facts["SIGNED_ZEROS"]]
ZEROS = (0.0, -0.0, 1.0, -0.25)


def with_zeros(change):
    """NumPy, whose zeros are changed."""

    def forward(op, inputs, params):
        return [np.where(y == 0, change(y), y).astype(y.dtype) for y in HONEST.forward(op, inputs, params)]

    return SimpleNamespace(name="kernel", version="1", device="cpu", forward=forward)


def test_a_wrong_sign_is_a_wrong_value_where_signs_are_asked_for():
    case, positive = "neg[x=66,;f32;fill=special]", with_zeros(np.abs)
    assert judged(positive, case).verdict is Verdict.PASS
    found = judged(positive, case, signed_zeros=True)
    assert found.verdict is Verdict.WRONG_VALUE
    assert found.message == "1 of 3 zeros of y have the wrong sign: +0 in place of -0 at (24,) (IEEE 754-2019)"
    assert judged(HONEST, case, signed_zeros=True).verdict is Verdict.PASS


@pytest.mark.parametrize("op", ["maximum", "minimum", "add", "mul"])
def test_each_sign_of_two_zeros_is_seen(op):
    case = f"{op}[a=81,;b=81,;f32;fill=special-pairs]"
    assert judged(HONEST, case, signed_zeros=True).verdict is Verdict.PASS
    for change in (np.abs, np.negative):
        assert judged(with_zeros(change), case, signed_zeros=True).verdict is Verdict.WRONG_VALUE


def test_nothing_is_asked_of_operators_that_the_standard_does_not_define():
    assert judged(with_zeros(np.negative), "sign[x=66,;f32;fill=special]", signed_zeros=True).verdict is Verdict.PASS


#: What IEEE 754-2019 (5.3.1, 5.4.1, 9.6) and C have of zeros, by Python's own arithmetic.
STANDARD = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if b else math.nan,
    "copysign": math.copysign,
    "fmod": lambda a, b: math.fmod(a, b) if b else math.nan,
    "maximum": lambda a, b: max(a, b, key=lambda x: (x, math.copysign(1, x))),
    "minimum": lambda a, b: min(a, b, key=lambda x: (x, math.copysign(1, x))),
    "abs": lambda a, _: math.fabs(a),
    "neg": lambda a, _: -a,
    "relu": lambda a, _: a if a > 0 else 0.0,
    "sqrt": lambda a, _: math.sqrt(a) if a >= 0 else math.nan,
    **{name: lambda a, _, n=name: math.copysign(getattr(math, n)(a), a) for name in ("ceil", "floor", "trunc")},
    "round": lambda a, _: math.copysign(round(a), a),
    "round_half_away": lambda a, _: math.copysign(math.floor(abs(a) + 0.5), a),
}


def test_the_references_have_the_signs_of_the_standard():
    assert set(STANDARD) == set(DEFINED)
    for name, dtype in itertools.product(DEFINED, (np.float32, np.float64)):
        a, b = np.array(list(itertools.product(ZEROS, ZEROS)), dtype).T
        op = load(name)
        with np.errstate(all="ignore"):
            y = np.asarray(op.forward(*(a, b)[: len(op.tensors)]))
        for x, z, got in zip(a, b, y, strict=True):
            wanted = STANDARD[name](float(x), float(z))
            if wanted == 0:
                assert (got, np.signbit(got)) == (0, math.copysign(1, wanted) < 0), (name, x, z)


@pytest.mark.parametrize("name", DEFINED)
def test_cases_hold_zeros_of_both_signs(name):
    asked = (c for c in cases_of(name) if c.fill in ("special", "special-pairs") and c.dtype == "f32")
    signs = set()
    for case in itertools.islice((c for c in asked if math.prod(c.shapes[load(name).tensors[0]]) < 5000), 6):
        (x, *_), (y, *_) = (q := make_question(case, load(name), Mode.FORWARD).case_data).inputs, q.outputs
        signs |= {("x", bool(s)) for s in np.signbit(x[x == 0])} | {("y", bool(s)) for s in np.signbit(y[y == 0])}
    assert {("x", True), ("x", False), ("y", False)} <= signs
    assert ("y", True) in signs or name in ("abs", "relu")


def test_a_run_takes_it_and_says_it_in_its_commands(tmp_path):
    assert " --signed-zeros " in repro_command_of(Task("torch", "neg[x=3,;f32]", "forward", signed_zeros=True))
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\n\ndef forward(op, inputs, params):\n    return np.maximum(inputs[0], inputs[1]) + 0\n"
    )
    case = ("--case", "maximum[a=81,;b=81,;f32;fill=special-pairs]", "--mode", "forward", "-j", "1", "--no-cache")
    made = completed("run", "-b", "./mine.py", *case, "--signed-zeros", cwd=tmp_path)
    assert made.returncode == 1
    assert "zeros of y have the wrong sign: +0 in place of -0 at" in made.stdout
    assert completed("run", "-b", "./mine.py", *case, "--out", "plain", cwd=tmp_path).returncode == 0
