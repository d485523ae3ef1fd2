"""Calls that PyTorch refuses: a candidate that answers, dies or writes is told of, one that refuses is not."""

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.call.exchange import CallRequest  # noqa: E402
from opproof.harness.check.call.isolated import load_pair  # noqa: E402
from opproof.harness.check.call.perform import perform  # noqa: E402
from opproof.harness.check.judge.advisories import _Advisories  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402


def reference(table, ids, scale):
    return table[ids] * scale


def first_of_each(table, ids, scale):
    return table[ids] * (scale if len(scale) == table.shape[1] else scale[:1])


def wrapped(table, ids, scale):
    return table[ids % len(table)] * scale


def writing(table, ids, scale):
    if len(scale) != table.shape[1]:
        scale.zero_()
    return table[ids] * scale


TABLE = "table of shape (7, 25) in place of (7, 24)"
SCALE = "scale of shape (25,) in place of (24,)"


@pytest.mark.parametrize(
    ("candidate", "told"),
    [
        (reference, []),
        (first_of_each, [f"accepts {TABLE}: PyTorch refuses it", f"accepts {SCALE}: PyTorch refuses it"]),
        (wrapped, ["accepts an index past its end in ids: PyTorch refuses it"]),
        (writing, [f"writes scale before it refuses {what}: PyTorch writes nothing" for what in (TABLE, SCALE)]),
    ],
)
def test_what_pytorch_refuses_is_tried(candidate, told):
    def asking(function):
        return lambda request: perform(lambda tensors: function(*tensors), request)

    given = {"table": torch.randn(7, 24), "ids": torch.arange(5), "scale": torch.randn(24)}
    request = CallRequest(tuple(take_tensor(name, value) for name, value in given.items()))
    first = SimpleNamespace(asked=SimpleNamespace(request=request))
    asked = _Advisories(first, asking(candidate), SimpleNamespace(call_native=asking(reference)), 60.0)
    found = [str(one) for one in asked.of_wrong_calls()]
    assert [text.partition(" (RuntimeError")[0].partition(" (IndexError")[0] for text in found] == told


BOTH = """
import os
import torch
def reference(a, b):
    return a * b
def inputs(seed, dtype):
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(24, generator=g).to(dtype) for _ in range(2)]
def candidate(a, b):
    return a * b if len(a) == len(b) else os.abort()
"""


def test_a_candidate_that_dies_of_one_is_told_of(tmp_path):
    file = tmp_path / "both.py"
    file.write_text(BOTH, encoding="utf-8")
    both = load_pair(file, file, 0)
    report = check_candidate(both.candidate, both.reference, both.inputs, CheckOptions(seconds=0.3))
    assert report.ok
    (said,) = (text for text in report.advisories if "PyTorch" in text)
    assert said.startswith("ends by a of shape (25,) in place of (24,): the process died of SIGABRT")
    assert "PyTorch refuses it (RuntimeError: The size of tensor a (25) must match" in said
