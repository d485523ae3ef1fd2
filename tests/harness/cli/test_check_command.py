"""opproof check: both forms of files, exit statuses, cheats that cannot reach the judge, the document for programs."""

from __future__ import annotations

import json

import pytest
from _deep import deep, few
from click.testing import CliRunner

pytest.importorskip("torch")

from opproof.core.errors import UsageError
from opproof.harness.__main__ import cli
from opproof.harness.check import times

#: Of tests that are about neither other sizes nor other calls.
usual = pytest.mark.usefixtures("usual_values")

REFERENCE = """
import torch

def reference(x, w):
    return torch.softmax(x * w, -1)

def inputs(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(5, 17).to(dtype), torch.randn(17).to(dtype)]
"""
MODEL = """
import torch

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(3, width, 3), torch.nn.BatchNorm2d(width)

    def forward(self, x):
        return torch.tanh(self.norm(self.conv(x)))

def get_inputs():
    return [torch.randn(3, 3, 7, 7)]

def get_init_inputs():
    return [5]
"""
HEAD = "import os, torch\nprint('noise on standard output')\n"
RIGHT = (
    HEAD
    + "def candidate(x, w):\n    e = torch.exp((x * w).float())\n    return (e / e.sum(-1, keepdim=True)).to(x.dtype)"
)


def checked(tmp_path, reference, candidate, *options):
    (tmp_path / "reference.py").write_text(reference, encoding="utf-8")
    (tmp_path / "candidate.py").write_text(candidate, encoding="utf-8")
    files = [str(tmp_path / "reference.py"), str(tmp_path / "candidate.py")]
    done = CliRunner().invoke(
        cli, ["check", *files, "--seconds", "0.1", "--accept-partial", *options], standalone_mode=False
    )
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.output


@usual
def test_a_right_candidate_passes(tmp_path):
    status, output = checked(tmp_path, REFERENCE, RIGHT)
    assert status == 0, output
    assert "candidate is reference" in output


@usual
@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("    return torch.zeros_like(x)", "WRONG_VALUE"),
        ("    os._exit(0)", "CRASH"),
        ("    raise RuntimeError('no')", "ERROR"),
    ],
)
def test_a_wrong_one_fails_in_one_short_document(tmp_path, body, cause):
    status, output = checked(tmp_path, REFERENCE, HEAD + "def candidate(x, w):\n" + body, "--json")
    found = json.loads(output)
    assert status == 1
    assert not found["ok"]
    assert cause in found["causes"]
    assert len(output.encode()) <= 4096


@usual
@pytest.mark.parametrize(("factor", "status"), few([("1.0", 0), ("1.02", 1)]))
def test_the_form_of_kernelbench(tmp_path, factor, status):
    model = MODEL.replace("Model(", "ModelNew(").replace("return torch.tanh", f"return {factor} * torch.tanh")
    found, output = checked(tmp_path, MODEL, model)
    assert found == status, output


@usual
def test_time_and_error_are_told_beside_eager(tmp_path, monkeypatch):
    import torch

    monkeypatch.setattr(torch, "compile", refuse)  # takes half a minute
    monkeypatch.setattr(times, "_BUDGET", 0.01)  # precision that a figure wants takes seconds
    _, output = checked(tmp_path, REFERENCE, RIGHT, "--time", "--json")
    own, eager, *_ = json.loads(output)["times"]
    assert (own["side"], eager["side"], own["mode"]) == ("candidate", "eager", "forward")
    assert 0 < eager["rms"] <= eager["units"] < 16
    assert 0 < own["low"] <= own["seconds"] <= own["high"]


def refuse(function):
    raise RuntimeError(f"no compiler for {function}")


@usual
@pytest.mark.parametrize(("factor", "status"), [("", 0), (" * 1.01", 1)])
def test_one_file_may_hold_both(tmp_path, factor, status):
    body = "def candidate(x, w):\n    return torch.softmax(x * w, -1)"
    (tmp_path / "both.py").write_text(f"{REFERENCE}\n{body}{factor}\n", encoding="utf-8")
    done = CliRunner().invoke(
        cli, ["check", str(tmp_path / "both.py"), "--accept-partial", "--seconds", "0.1"], standalone_mode=False
    )
    assert done.return_value == status, done.output
    assert status == 0 or "again: opproof check " + str(tmp_path / "both.py --only 'as given'") in done.output
    (tmp_path / "both.py").write_text(REFERENCE, encoding="utf-8")
    done = CliRunner().invoke(cli, ["check", str(tmp_path / "both.py")], standalone_mode=False)
    assert isinstance(done.exception, UsageError)
    assert "has no candidate" in str(done.exception)


@pytest.mark.parametrize(("reference", "text"), [("x = 1", "has neither form"), ("1 / 0", "could not be loaded")])
def test_a_reference_that_is_none_is_a_wrong_call(tmp_path, reference, text):
    with pytest.raises(UsageError, match=text):
        checked(tmp_path, reference, RIGHT)


@usual
def test_a_function_of_a_file_may_run_apart(tmp_path, monkeypatch):
    import opproof.harness.check.api as front

    (tmp_path / "apart.py").write_text(
        RIGHT + "\n\ndef reference(x, w):\n    return torch.softmax(x * w, -1)\n", "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import apart

    given = {"op": None, "like": apart.reference, "inputs": [(3, 5), (5,)], "vjp": None, "neighbours": False}
    assert front.judge_candidate(apart.candidate, **given, isolate=True).ok
    with pytest.raises(UsageError, match="at the top of a file"):
        front.judge_candidate(lambda x, w: x, **given, isolate=True)


OPENED = """    names = {}
    exec(open(__file__.replace('candidate', 'reference')).read(), names)
    return names['reference'](x, w)"""
LINKED = """    from pathlib import Path
    link = Path(__file__).with_name('mine.py')
    if not link.exists():
        link.symlink_to('reference.py')
    from mine import reference
    return reference(x, w)"""
IMPORTED = "    from reference import reference\n    return reference(x, w)"


@usual
@pytest.mark.parametrize("body", [IMPORTED, OPENED, deep(LINKED)], ids=["imported", "opened", "linked"])
def test_the_reference_answers_for_no_candidate(tmp_path, body):
    status, output = checked(tmp_path, REFERENCE, HEAD + "def candidate(x, w):\n" + body)
    assert status == 1, output
    assert "ERROR" in output
    assert "reference.py is the reference: a candidate may not read it" in output


@usual
def test_a_module_beside_the_reference_may_be_imported(tmp_path):
    (tmp_path / "helper.py").write_text("factor = 1.0\n", encoding="utf-8")
    status, output = checked(tmp_path, REFERENCE, RIGHT.replace("import os, torch", "import os, torch\nimport helper"))
    assert status == 0, output


DOES = """
import os, threading, time

def candidate(x, w):
    y = ((x * w).float() - (x * w).float().amax(-1, keepdim=True)).exp()
    {does}
    return (y / y.sum(-1, keepdim=True)).to(x.dtype)
"""


@usual
def test_a_candidate_that_dies_of_another_size_fails(tmp_path):
    """To decline it could raise."""
    wrong = DOES.format(does="if x.shape[-1] != 17: os.abort()")
    status, output = checked(tmp_path, REFERENCE, wrong, "--seconds", "20")
    assert status == 1
    assert "CRASH" in output


@usual
def test_a_reference_that_is_another_at_the_end_proves_nothing(tmp_path):
    """Whoever wrote it: where it is covered for the candidate, that is another program, or as here itself."""
    itself = "import pathlib\n    pathlib.Path(__file__).write_text('reference = None')\n    torch.manual_seed"
    with pytest.raises(UsageError, match="is not what it was when the check began"):
        checked(tmp_path, REFERENCE.replace("torch.manual_seed", itself), RIGHT)


NEW = MODEL.replace("class Model(", "class ModelNew(").replace(
    "torch.tanh(", "(1 if self.training else 1.1) * torch.tanh("
)


@usual
def test_a_module_that_is_wrong_in_evaluation_mode_alone(tmp_path):
    status, output = checked(tmp_path, MODEL, NEW)
    assert status == 1
    assert "in evaluation mode" in output
    again = checked(tmp_path, MODEL, NEW, "--only", "in evaluation mode")
    assert again[0] == 1


@usual
def test_values_that_prove_nothing_are_no_pass(tmp_path):
    """The mean of one number is taken off it: zeros are right, and so are the gradients, which are 0."""
    always = "    y = (x * w).amax(-1, keepdim=True)\n    return y - y.mean(-1, keepdim=True)\n"
    reference = REFERENCE.replace("    return torch.softmax(x * w, -1)\n", always)
    status, output = checked(tmp_path, reference, HEAD + "def candidate(x, w):\n    return (x * w)[:, :1] * 0")
    assert (status, "was not proved to be" in output) == (3, True), output


@usual
@pytest.mark.parametrize(("options", "status"), [((), 0), (("--beyond",), 1)])
def test_what_is_wrong_beyond_the_inputs_given(tmp_path, options, status):
    reference = """
import torch

def reference(x, rate):
    return x * rate

def inputs(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(5, 17).to(dtype), (torch.rand(17) + 0.5).to(dtype)]
"""
    body = "def candidate(x, rate):\n    return x * rate.abs()"
    found, output = checked(tmp_path, reference, HEAD + body, "--only", "negative values", *options)
    assert ("beyond the inputs given" in output, "--beyond" in output) == (not options, bool(options)), output
    # Nothing else was tried, and what is left out proves nothing.
    assert found == (status or 3)
