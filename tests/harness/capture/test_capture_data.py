"""Cases keep the data of a program's calls, and a defect that only these numbers show is found."""

from __future__ import annotations

import re

import pytest
import torch
from _runs import opproof

import opproof as library
from opproof.cases import Case
from opproof.core.errors import CaseError
from opproof.harness.reference.data import inputs_of
from opproof.harness.run.plan import Selection, select_cases
from opproof.reference_ops import load

X = [[0.0, -0.0, 0.0, 1.5], [-2.0, 3.0, 0.25, -7.0]]  # three of them at relu's kink


@pytest.fixture
def kept(tmp_path):
    """A file of cases with their data."""
    with library.capture(tmp_path / "cases.toml", data=True):
        torch.relu(torch.tensor(X, requires_grad=True))
        torch.nn.functional.embedding(torch.tensor([2, 0]), torch.eye(3, 4, dtype=torch.bfloat16))
        torch.log(torch.tensor([1.0, float("nan")]))
    return tmp_path / "cases.toml"


def test_the_data_itself(kept, monkeypatch):
    folder = kept.parent
    monkeypatch.chdir(folder.parent)
    of = {c.op: c for c in select_cases(Selection(case_files=(f"{folder.name}/cases.toml",)))}
    assert of["relu"].fill == f"file:{folder.name}/cases.safetensors#0"
    assert Case.parse(str(of["relu"])) == of["relu"]
    assert not of["log"].fill.startswith("file:")  # no gradient can be asked for at NaN
    assert inputs_of(of["relu"], load("relu"))["x"].tolist() == X
    assert inputs_of(of["embedding"], load("embedding"))["indices"].tolist() == [2, 0]


def test_other_data_are_the_same_numbers_in_another_order(kept):
    (relu,) = select_cases(Selection(case_files=(str(kept),), ops=("relu",)))
    for x in (inputs_of(relu.with_seed(1), load("relu"))["x"], inputs_of(relu, load("relu"), variant=1)["x"]):
        assert sorted(x.flat) == sorted([*X[0], *X[1]])
        assert x.tolist() != X


#: relu, but for a quarter, which it takes for 0.
QUARTERS = """
import numpy as np


def supports(op, dtype, params):
    return op == "relu"


def forward(op, inputs, params):
    (x,) = inputs
    return [np.where(x == 0.25, 0, np.maximum(x, 0)).astype(x.dtype)]
"""


def test_what_fails_with_the_captured_data_alone(kept, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(QUARTERS, encoding="utf-8")
    run = ("run", "-b", tmp_path / "mine.py", "--mode", "forward", "--quiet")
    assert opproof(capsys, *run, "--cases", kept, "-o", "relu", "--out", tmp_path / "a")[0] == 1
    assert opproof(capsys, *run, "--case", "relu[x=2x4;f32]", "--out", tmp_path / "b")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("safetensors#0", "safetensors#9", "holds no 9."),
        ("x=2x4", "x=2x5", "cases.safetensors holds 0.x of 2x4; "),
        ("cases.safetensors", "gone.safetensors", "gone.safetensors, which a case takes"),
        ("file:cases.safetensors#0", "file:cases", "malformed fill 'file:"),
    ],
)
def test_data_that_is_not_there(kept, old, new, message):
    kept.write_text(kept.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(CaseError, match=re.escape(message)):
        select_cases(Selection(case_files=(str(kept),)))
