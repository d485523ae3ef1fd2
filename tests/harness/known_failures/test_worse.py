"""Known failures of libraries, their answers spoilt: ten times as large, NaN, zeros. None of them is known any more."""

import importlib

import numpy as np
import pytest
from _ask import judged

from opproof.harness.known_failures.findings import read_built_in
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


@pytest.mark.parametrize(("library", "case", "mode"), CASES)
@pytest.mark.parametrize("factor", [1, 10, np.nan, 0])
def test_known_failures_that_got_worse(library, case, mode, factor):
    pytest.importorskip(PACKAGES[library], reason=f"the package {PACKAGES[library]} is not installed")
    found = judged(Spoilt(library, factor), case, mode)
    known = tuple(read_built_in(library))
    result = mark(record(Task(library, case, mode, known=known), Attempt(found)), known)
    assert result.verdict == ("WRONG_VALUE" if mode == "forward" else "WRONG_GRADIENT")
    assert bool(result.known) is (factor == 1)
