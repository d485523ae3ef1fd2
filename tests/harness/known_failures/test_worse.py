"""Known failures of libraries, their answers spoilt: ten times as large, NaN, zeros. None of them is known any more."""

import importlib

import numpy as np
import pytest
from _ask import judged

from opproof.harness.known_failures.causes import function_of
from opproof.harness.known_failures.findings import LEDGERS, read_built_in
from opproof.harness.known_failures.known import mark
from opproof.harness.run.attempt import Attempt
from opproof.harness.run.record import record
from opproof.harness.run.task import Task

CASES = [
    ("torch", "prod[x=11x97;dim=0;f16]", "gradient"),
    ("torch", "cumprod[x=11x97;dim=0;f16]", "gradient"),
    ("torch", "local_response_norm[x=2x9x5;size=3;alpha=0.5;f16;fill=extreme]", "forward"),
    ("torch", "l2_norm[x=65x2;dim=-1;f16;fill=signs]", "forward"),
    ("torch", "cosh[x=3x33;f16;fill=extreme;layout=sliced]", "gradient"),
    ("torch", "softplus[x=7x33;threshold=100.0;f32;fill=extreme]", "forward"),
    ("torch", "atan2[a=3x127;b=3x127;f16;fill=extreme]", "gradient"),
    ("aidge", "conv_transpose1d[x=2x3x4;weight=3x5x2;bias=5,;stride=3;output_padding=2;f32]", "forward"),
]
#: Of libraries on processors that this one may not be: what a function of the list computes there.
FORMULAS = [
    ("onednn", "look_up_logarithm_unfused", "log[x=66x11;f32;fill=branches]"),
    ("onednn", "subtract_unfused_logarithm", "log_softmax[x=25x7;dim=-1;f32;fill=special-rows]"),
    ("onednn", "pad_terms_to_pairs", "matmul[a=33x3;b=3x17;bf16;fill=special]"),
    ("onednn", "pad_terms_to_pairs_of_linear", "linear[x=33x3;weight=17x3;bias=17,;bf16;fill=special]"),
    ("torch", "pad_terms_to_pairs", "baddbmm[x=3x33x17;a=3x33x3;b=3x3x17;beta=0.5;alpha=2.0;bf16;fill=special]"),
]
#: What has to be installed for each library.
PACKAGES = {"torch": "torch", "aidge": "aidge_backend_cpu"}


class Spoilt:
    """A library, every answer multiplied by a factor."""

    def __init__(self, library, factor):
        self.backend, self.factor = importlib.import_module(f"opproof.backends.{library}").create(), factor
        self.name, self.version, self.device = library, self.backend.version, self.backend.device
        self.compute = self.backend.compute

    def spoilt(self, tensors):
        with np.errstate(all="ignore"):
            return [y if y is None else self.times(np.asarray(y)) for y in tensors]

    def times(self, y):
        return np.zeros_like(y) if self.factor == 0 else y * y.dtype.type(self.factor)

    def forward(self, op, inputs, params):
        found = self.backend.forward(op, inputs, params)
        return self.spoilt(found if isinstance(found, list | tuple) else [found])

    def vjp(self, op, inputs, params, cotangents, needs):
        return self.spoilt(self.backend.vjp(op, inputs, params, cotangents, needs))


class Computed:
    """A function of a library's list, every answer multiplied by a factor."""

    version, device = "1", "cpu"

    def __init__(self, library, name, factor):
        self.name, self.factor = library, factor
        self.function = function_of(str(LEDGERS / library), name)

    def forward(self, op, inputs, params):
        wide = [x.astype(np.float64) for x in inputs]
        with np.errstate(all="ignore"):
            return [(self.function(*wide, **params) * self.factor).astype(inputs[0].dtype)]


@pytest.mark.parametrize(("library", "case", "mode"), CASES)
@pytest.mark.parametrize("factor", [1, 10, np.nan, 0])
def test_known_failures_that_got_worse(library, case, mode, factor):
    pytest.importorskip(PACKAGES[library], reason=f"the package {PACKAGES[library]} is not installed")
    found = judged(Spoilt(library, factor), case, mode)
    known = tuple(read_built_in(library))
    result = mark(record(Task(library, case, mode, known=known), Attempt(found)), known)
    assert result.verdict == ("WRONG_VALUE" if mode == "forward" else "WRONG_GRADIENT")
    assert bool(result.known) is (factor == 1)


@pytest.mark.parametrize(("library", "name", "case"), FORMULAS)
@pytest.mark.parametrize("factor", [1, 10, -1, 0])
def test_known_failures_of_other_processors_that_got_worse(library, name, case, factor):
    found = judged(Computed(library, name, factor), case, "forward")
    known = tuple(read_built_in(library))
    result = mark(record(Task(library, case, "forward", known=known), Attempt(found)), known)
    assert result.verdict == "WRONG_VALUE"
    assert bool(result.known) is (factor == 1)
