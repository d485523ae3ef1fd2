"""Truth values are the bytes 0 and 1: others compare them, count them, and index with them."""

import pytest

from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task

BACKEND = """
import numpy as np

def forward(op, inputs, params):
    return ((inputs[0] == inputs[1]).view(np.uint8) * {factor}).view(bool)
"""


@pytest.mark.parametrize(("factor", "verdict"), [(1, "PASS"), (2, "WRONG_VALUE")])
def test_another_byte_than_1_is_wrong(tmp_path, factor, verdict):
    file = tmp_path / "backend.py"
    file.write_text(BACKEND.format(factor=factor), encoding="utf-8")
    at = Session(HostLimits(1, 30.0, 2**30))
    try:
        (found,) = at.results([Task(str(file), "eq[a=3x33;b=3x33;f32;fill=ties]", "forward")])
    finally:
        at.close()
    assert found.verdict == verdict
    assert ("is the byte 2: expected 0 or 1" in found.message) == (factor == 2)
