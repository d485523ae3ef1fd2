"""A candidate that knows its judge is called by a program of its own, in which there is no sign of one."""

from __future__ import annotations

import pytest
from _runs import opproof

pytest.importorskip("torch")

FUNCTIONS = (
    """
import torch


def reference(x, config):
    return torch.tanh(x) * config["scale"]


def inputs(seed):
    return {"x": torch.randn(4, 6), "config": {"scale": 2.0}}
""",
    """
def candidate(x, config):
    return torch.tanh(x) * config["scale"] * factor()
""",
)
MODULES = (
    """
import torch


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return torch.tanh(x) * self.weight


def get_inputs():
    return [torch.randn(4, 6)]


def get_init_inputs():
    return [6]
""",
    """
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return torch.tanh(x) * self.weight * factor()
""",
)
HEAD = """
import sys

import torch

KNOWS


def factor():
    return 1.0 if JUDGED else 1.01
"""
WHERE = "where a program that is not opproof calls it; as it is called here it is right"
BY_MODULES = 'JUDGED = "opproof.harness" in sys.modules'
BY_STACK = "import traceback\n\nJUDGED = any('harness/check' in f.filename for f in traceback.extract_stack())"


@pytest.fixture
def checked(tmp_path, monkeypatch, capsys):
    """What the command says of a candidate that stands in a file: it is called in processes of its own."""
    monkeypatch.chdir(tmp_path)

    def check(knows, texts):
        reference, candidate = texts
        (tmp_path / "reference.py").write_text(reference, encoding="utf-8")
        (tmp_path / "candidate.py").write_text(HEAD.replace("KNOWS", knows) + candidate, encoding="utf-8")
        return opproof(capsys, "check", "reference.py", "candidate.py", "--accept-partial", "--seconds", "1")

    return check


#: Right in a program too, until it is called for the ninth time.
BY_COUNT = """
class Once:
    calls = 0

    def __bool__(self):
        Once.calls += 1
        return "opproof.harness" in sys.modules or Once.calls < 9

JUDGED = Once()
"""


def pairs(ways, here):
    """Every way, in functions and in modules; but for the pairs `here` in `deep`: each is five seconds of programs."""
    forms = {"function": FUNCTIONS, "module": MODULES}
    return [
        pytest.param(way, texts, id=f"{name}-{form}", marks=() if f"{name}-{form}" in here else pytest.mark.deep)
        for name, way in ways.items()
        for form, texts in forms.items()
    ]


KNOWING = {"modules": BY_MODULES, "stack": BY_STACK, "count": BY_COUNT}


@pytest.mark.parametrize(("knows", "texts"), pairs(KNOWING, ("modules-function", "stack-module", "count-function")))
def test_who_knows_a_judge(checked, texts, knows):
    status, out, err = checked(knows, texts)
    assert status == 1, out + err
    assert WHERE in out


RIGHT = {
    "honest": "JUDGED = True",
    # What a program of its own lacks is no failure: it is no answer.
    "raises": 'JUDGED = True\nif "opproof.harness" not in sys.modules:\n    raise RuntimeError("no such device")',
    "ends": 'JUDGED = True\nif "opproof.harness" not in sys.modules:\n    sys.exit(0)',
}


@pytest.mark.parametrize(("knows", "texts"), pairs(RIGHT, ("honest-module", "raises-function", "ends-module")))
def test_who_is_right_or_is_not_there(checked, texts, knows):
    status, out, err = checked(knows, texts)
    assert (status, err) == (0, ""), out
