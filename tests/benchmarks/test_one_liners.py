"""NumPy's and SciPy's own functions, and the textbook's gradients, are honest: they pass; 0.2 % off they do not."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from _ask import judged

HONEST = Path(__file__).parents[2] / "benchmarks" / "honest"
sys.path.insert(0, str(HONEST))
VALUES = importlib.import_module("one_liners").VALUES
GRADIENTS = importlib.import_module("gradients").GRADIENTS
sys.path.remove(str(HONEST))

ROWS = [
    (mode, name, way) for mode, table in (("forward", VALUES), ("gradient", GRADIENTS))
    for name, ways in table.items() for way in ways.ways
]  # fmt: skip


class OneWay:
    """A backend of one function, in float32, times a factor; what comes in 16 bits is rounded once at the end."""

    name, version, device = "one way", "1", "cpu"

    def __init__(self, function, factor=1.0):
        self.function, self.factor = function, np.float32(factor)

    def supports(self, op, dtypes, params):
        return True

    def forward(self, op, inputs, params):
        return self._called(inputs, params, inputs[0].dtype)

    def vjp(self, op, inputs, params, cotangents, needs):
        found = self._called([*cotangents, *inputs], params, inputs[0].dtype)
        found += [None] * (len(needs) - len(found))
        return [d if need else None for d, need in zip(found, needs, strict=True)]

    def _called(self, tensors, params, dtype):
        wide = [t if t is None or t.dtype.kind != "f" else t.astype(np.float32) for t in tensors if t is not None]
        with np.errstate(all="ignore"):
            found = self.function(*wide, **params)
            several = found if isinstance(found, tuple) else (found,)
            return [(np.asarray(y, np.float32) * self.factor).astype(dtype) for y in several]


@pytest.mark.parametrize("factor", [1.0, 1 + 2**-9])
@pytest.mark.parametrize(("mode", "name", "way"), ROWS, ids=map(" ".join, ROWS))
def test_it_passes_and_not_when_it_is_off(mode, name, way, factor):
    ways = (VALUES if mode == "forward" else GRADIENTS)[name]
    found = judged(OneWay(ways.ways[way], factor), f"{name}[{ways.case};f32]", mode)
    wrong = "WRONG_VALUE" if mode == "forward" else "WRONG_GRADIENT"
    assert found.verdict == ("PASS" if factor == 1 else wrong), found.message


@pytest.mark.parametrize("op", sorted(VALUES))
def test_in_16_bits_they_pass_too(op):
    case = re.sub(";fill=special.*", "", VALUES[op].case)
    for function in VALUES[op].ways.values():
        assert judged(OneWay(function), f"{op}[{case};f16]").verdict == "PASS"


@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_a_chain_that_leaves_the_last_term_out_fails(mode):
    """One of 1,031: what the noise of a chain allows is far less."""

    def short(*tensors, dim, keepdim):
        x = tensors[-1]
        y = np.logaddexp.reduce(x[..., :-1], axis=dim)
        return y if mode == "forward" else tensors[0][:, None] * np.exp(x - y[:, None])

    found = judged(OneWay(short), "logsumexp[x=9x1031;dim=-1;f32;fill=wide]", mode)
    assert found.verdict == ("WRONG_VALUE" if mode == "forward" else "WRONG_GRADIENT")
    assert found.units > 500


@pytest.mark.parametrize(("off", "verdict"), [(0, "PASS"), (2**-17, "WRONG_VALUE"), (1, "WRONG_VALUE")])
def test_the_smaller_of_two_exponentials_counts(off, verdict):
    """The sum's rounding is let off, 2^-24 of 1; 2^-17 of its smaller term is not, nor that the term is left out."""

    def log_of_sum(a, b):
        top, smaller = np.maximum(a, b), np.exp(-np.abs(a - b)) * np.float32(1 - off)
        return np.log(1 + smaller) + top

    assert judged(OneWay(log_of_sum), "logaddexp[a=5x1031;b=5x1031;f32]").verdict == verdict


def test_half_of_the_difference_of_two_logarithms_fails():
    """What the two terms round is small beside what is left of them."""
    ways = GRADIENTS["bce_with_logits"]

    def half(g, x, target, **params):
        dx, dtarget = ways.ways["logarithms"](g, x, target, **params)
        return dx, dtarget / 2

    found = judged(OneWay(half), f"bce_with_logits[{ways.case};f32]", "gradient")
    assert found.verdict == "WRONG_GRADIENT"


def test_the_largest_of_a_row_is_not_let_off():
    """Its bound knows what a sum rounds: 0.2 % of it alone fail, and so does a gradient without the others."""

    def off(g, x, dim):
        d = GRADIENTS["softmax"].ways["max(x) too"](g, x, dim)
        return d * np.where(x == np.max(x, axis=dim, keepdims=True), np.float32(1 + 2**-9), 1)

    def alone(g, x, dim):
        y = np.exp(x - np.max(x, axis=dim, keepdims=True))
        y = y / np.sum(y, axis=dim, keepdims=True)
        along = np.where(x == np.max(x, axis=dim, keepdims=True), g * y, np.sum(g * y, axis=dim, keepdims=True))
        return y * (g - along)

    for wrong in (off, alone):
        assert judged(OneWay(wrong), "softmax[x=3x768;dim=-1;f32]", "gradient").verdict == "WRONG_GRADIENT"
