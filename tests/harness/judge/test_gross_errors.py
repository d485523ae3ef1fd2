"""Gross errors in every operator are noticed: doubled and zero gradients, 2 %, one element, one in a thousand."""

import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy
from opproof.cases import cases_of
from opproof.cases._registry import all_names
from opproof.harness.run.plan import has_gradient
from opproof.reference_ops import load

WRONG = {"WRONG_VALUE", "WRONG_GRADIENT", "NOT_REPEATABLE"}


def largest(array):
    """Index of the largest finite element."""
    values = np.abs(np.asarray(array, dtype=np.float64))
    return np.unravel_index(int(np.argmax(np.where(np.isfinite(values), values, 0))), array.shape)


def scaled(array, factor):
    """Floats times `factor`; integers one up, booleans turned round."""
    if array.dtype == bool:
        return ~array
    return array + 1 if array.dtype.kind in "iu" else (array * array.dtype.type(factor)).astype(array.dtype)


def one(array, change):
    changed = np.array(array)
    at = largest(array)
    changed[at] = change(array)[at]
    return changed


OUTPUTS = {
    "+2 %": lambda y: scaled(y, 1.02),
    "one element zeroed": lambda y: one(y, np.zeros_like),
    "one element x 1.001": lambda y: one(y, lambda v: scaled(v, 1.001)),
}
GRADIENTS = {
    "doubled": lambda d: d * d.dtype.type(2),
    "zeros": np.zeros_like,
    "negated": lambda d: -d,
    **OUTPUTS,
}

#: What draws numbers is held against chance: one other number may come, half of them may not.
DRAWN = {"bernoulli", "multinomial", "random_bits", "random_normal", "random_uniform"}
OF_DRAWN = {
    "doubled": lambda y: scaled(y, 2),
    "every second zeroed": lambda y: np.where(np.arange(y.size).reshape(y.shape) % 2 == 0, y, 0).astype(y.dtype),
    "zeros": np.zeros_like,
}

#: Their gradient is zero everywhere: no factor changes it, and no zero is an error.
FLAT = {"ceil", "fill", "floor", "floor_divide", "round", "round_half_away", "sign", "step", "trunc"}
OF_FLAT = {
    "constant": np.ones_like,
    "one element": lambda d: one(d, np.ones_like),
    "small": lambda d: d + d.dtype.type(1e-6),
}


class Altered(NumPy):
    """The references, with every output or gradient altered."""

    def __init__(self, change, mode):
        self.change, self.mode = change, mode

    def forward(self, op, inputs, params):
        outputs = super().forward(op, inputs, params)  # of what draws, asked for by gradients too
        return outputs if self.mode == "gradient" else [self.change(y) if y.size else y for y in outputs]

    def vjp(self, op, inputs, params, cotangents, needs):
        given = NumPy().vjp(op, inputs, params, cotangents, needs)
        return [self.change(d) if d is not None and d.size else d for d in given]


def verdicts(name, mode, change):
    """What is said of the operator's smoke cases in f32, one after the other."""
    op = load(name)
    backend = NumPy() if change is None else Altered(change, mode)
    for case in cases_of(name, "smoke"):
        if case.dtype == "f32" and (mode == "forward" or has_gradient(case, op)):
            yield judged(backend, str(case), mode, single_call=True).verdict


@pytest.mark.parametrize("name", all_names())
def test_errors_are_noticed(name):
    for mode, errors in (
        ("forward", OF_DRAWN if name in DRAWN else OUTPUTS),
        ("gradient", OF_FLAT if name in FLAT else GRADIENTS),
    ):
        honest = {*verdicts(name, mode, None)}
        if mode == "gradient" and honest <= {"UNSUPPORTED"}:
            continue
        if name in FLAT and mode == "gradient":
            assert WRONG.isdisjoint(verdicts(name, mode, np.zeros_like))
        assert honest <= {"PASS", "VACUOUS"}, (mode, honest)
        assert "PASS" in honest, (mode, honest)
        for error, change in errors.items():
            assert any(v in WRONG for v in verdicts(name, mode, change)), (mode, error)
