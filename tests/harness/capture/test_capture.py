"""What a PyTorch program runs becomes cases that a backend is judged by; what has no operator of ours is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from _runs import opproof

import opproof as library
from opproof.cases import Case, _file
from opproof.core.errors import CaseError, UsageError
from opproof.harness.capture.recorder import record_calls
from opproof.harness.run.plan import Selection, select_cases
from opproof.reports import read_results

F = torch.nn.functional


@pytest.fixture
def captured(tmp_path):
    """The ids that a function's calls become, with how often, and what was no operator of ours."""

    def capture(program):
        with library.capture(tmp_path / "cases.toml"):
            program()
        file = _file.read(tmp_path / "cases.toml") if "[[case]]" in (tmp_path / "cases.toml").read_text() else None
        return ({e.id: e.calls for e in file.case}, dict(file.unmapped)) if file else ({}, {})

    return capture


def test_a_transformer_block(captured):
    manner = {"batch_first": True, "norm_first": True, "activation": "gelu", "dropout": 0}
    block = torch.nn.TransformerEncoderLayer(64, 4, 128, **manner)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(10)
    ids, unmapped = captured(lambda: block(torch.randn(2, 10, 64), src_mask=mask, is_causal=True).sum().backward())
    sdpa = [Case.parse(i) for i in ids if i.startswith("scaled_dot_product_attention")]
    assert [(c.shapes["query"], c.kwargs) for c in sdpa] == [((2, 4, 10, 16), {"is_causal": True})]
    assert {Case.parse(i).op for i in ids} >= {"linear", "layer_norm", "gelu", "add", "sum"}
    assert "linear[x=2x10x64;weight=128x64;bias=128,;f32]" in ids
    assert unmapped == {}


@pytest.mark.parametrize(
    ("program", "case"),
    [
        (lambda x, y: x + y, "add[a=3x4;b=3x4;f32]"),
        (lambda x, y: 2 - x, "sub[a=0d;b=3x4;f32]"),
        (lambda x, y: x**2, "pow[a=3x4;exponent=2;f32]"),
        (lambda x, y: x @ y.T, "matmul[a=3x4;b=4x3;f32;layout=b:transposed]"),
        (lambda x, y: x.half().softmax(-1), "softmax[x=3x4;dim=-1;f16]"),
        (lambda x, y: x.clone().relu_(), "relu[x=3x4;f32]"),
        (lambda x, y: torch.cat([x, x], 1), "concat[a=3x4;b=@a;dim=1;f32]"),
        (lambda x, y: F.rms_norm(x, (4,), eps=1e-5), "rms_norm[x=3x4;eps=1e-05;f32]"),
        (lambda x, y: F.embedding(torch.tensor([1, 0]), x), "embedding[weight=3x4;indices=2,;f32]"),
        (lambda x, y: F.conv1d(x[None], torch.ones(2, 3, 2), stride=2), "conv1d[x=1x3x4;weight=2x3x2;stride=2;f32]"),
        (lambda x, y: F.interpolate(x[None, None], (6, 8)), "upsample_nearest[x=1x1x3x4;size=(6,8);f32]"),
        (lambda x, y: F.max_pool2d(x[None, None], 2), "max_pool2d[x=1x1x3x4;kernel_size=2;f32]"),
        (lambda x, y: x.expand(5, 3, 4) * y, "mul[a=5x3x4;b=3x4;f32;layout=a:broadcast]"),
        (lambda x, y: torch.where(x > 0, x, y), "where[condition=3x4;a=3x4;b=3x4;f32]"),
        (lambda x, y: (x + 1000).mean(), "mean[x=3x4;f32;fill=offset-1e3]"),
    ],
)
def test_a_call(captured, program, case):
    torch.manual_seed(1)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    ids, _ = captured(lambda: program(x, y))
    assert case in ids


def test_another_computation_under_our_name_is_not_believed(captured):
    x = torch.randn(3, 4)
    ids, unmapped = captured(lambda: (torch.add(x, x, alpha=2), x + 1))
    assert ids == {"add[a=3x4;b=0d;f32]": 1}
    assert unmapped == {"add": 1}


def test_what_is_no_operator_of_ours_is_said(captured):
    lstm = torch.nn.LSTM(4, 5)
    ids, unmapped = captured(lambda: (lstm(torch.randn(3, 2, 4)), torch.randn(3).exp()))
    assert ids == {"exp[x=3,;f32]": 1}
    assert unmapped == {"lstm": 1}


def test_calls_and_flops_are_counted(tmp_path):
    w = torch.randn(5, 4)
    with library.capture(tmp_path / "c.toml") as calls:
        for _ in range(3):
            F.linear(torch.randn(2, 4), w)
    ((case, counts),) = calls.cases.items()
    assert (str(case), counts.calls, counts.flops) == ("linear[x=2x4;weight=5x4;f32]", 3, 3 * 2 * 2 * 4 * 5)


BACKEND = """
import numpy as np

version = "1"


def supports(op, dtypes, params):
    return op == "softmax"


def forward(op, inputs, params):
    y = np.exp(inputs[0] - inputs[0].max(-1, keepdims=True))
    y = y / y.sum(-1, keepdims=True)
    if inputs[0].shape == (2, 48):  # wrong for one shape, which no row of ours has
        y[-1, -1] = 0
    return y
"""


def test_a_bug_that_only_the_captured_shape_shows_is_found(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(BACKEND)
    script = tmp_path / "program.py"
    script.write_text("import torch\nfor n in (33, 48):\n    torch.randn(2, n).softmax(-1)\n")
    status, out, _ = opproof(capsys, "capture", "-o", tmp_path / "c.toml", script)
    assert status == 0
    assert "2 cases of 2 calls" in out
    status, _, _ = opproof(
        capsys, "run", "-b", tmp_path / "mine.py", "--cases", tmp_path / "c.toml", "--mode", "forward", "--quiet",
        "--out", tmp_path / "out",
    )  # fmt: skip
    verdicts = {r.case: str(r.verdict) for r in read_results(tmp_path / "out")[1]}
    assert verdicts == {"softmax[x=2x33;dim=-1;f32]": "PASS", "softmax[x=2x48;dim=-1;f32]": "WRONG_VALUE"}
    assert status == 1


def test_ids_alone_are_a_file_of_cases(tmp_path, capsys):
    """As `opproof list cases` prints them, so that what was listed, sorted out and shortened is what runs."""
    _, listed, _ = opproof(capsys, "list", "cases", "-o", "softsign,relu", "--level", "smoke")
    (tmp_path / "mine").write_text(f"# a comment\n\n{listed}")
    status, _, _ = opproof(
        capsys, "run", "-b", "numpy", "--cases", tmp_path / "mine", "--mode", "forward", "--quiet", "--seed", "3",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert status == 0
    ran = [r.case for r in read_results(tmp_path / "out")[1]]
    assert sorted(ran) == sorted(line.replace("]", ";seed=3]") for line in listed.split())


def test_a_script_that_fails_keeps_what_ran(tmp_path, capsys):
    script = tmp_path / "program.py"
    script.write_text("import torch\ntorch.ones(3).exp()\nraise ValueError('no\\nmore')\n")
    status, _, err = opproof(capsys, "capture", "-o", tmp_path / "c.toml", script)
    assert status == 2
    assert f"{script} raised ValueError: no more. What ran before stands in {tmp_path / 'c.toml'}." in err
    assert [e.id for e in _file.read(tmp_path / "c.toml").case] == ["exp[x=3,;f32]"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("capture", "-o", "c.toml", "none.py"), "no script none.py: expected a Python file"),
        (("capture", "-o", "none/c.toml", "program.py"), "none/c.toml cannot be written: there is no folder"),
        (
            ("run", "-b", "torch", "--cases", "llama"),
            "no file of cases 'llama': expected a path to one, or one of",
        ),
        (("run", "-b", "torch", "--cases", "broken.toml"), "broken.toml is no file of cases: "),
        (("run", "-b", "torch", "--cases", "empty.toml"), "empty.toml holds no case: expected tables [[case]]"),
        (("run", "-b", "torch", "--cases", "level.toml"), "level 'some' of relu[x=3,;f32]: expected one of smoke"),
        (("run", "-b", "torch", "--cases", "id.toml"), "malformed case id 'relu'"),
        (("run", "-b", "torch", "--cases", "ids"), "malformed case id 'and this'"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text("")
    Path("broken.toml").write_text("[[case")
    Path("empty.toml").write_text("title = 'x'")
    Path("level.toml").write_text('[[case]]\nid = "relu[x=3,;f32]"\nlevel = "some"')
    Path("id.toml").write_text('[[case]]\nid = "relu"')
    Path("ids").write_text("relu[x=3,;f32]\nand this\n")
    status, _, err = opproof(capsys, *arguments)
    assert status == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", _file.names())
def test_models_name_their_source_and_can_be_computed(name):
    file = _file.read(_file.path_of(name))
    assert file.title
    assert file.source
    assert file.cases("full", _file.MODELS)
    assert select_cases(Selection(case_files=(name,), level="smoke"))


def test_levels_and_operators_select(tmp_path):
    text = '[[case]]\nid = "relu[x=3,;f32]"\nlevel = "{}"\n[[case]]\nid = "exp[x=3,;f16]"\n'
    (tmp_path / "c.toml").write_text(text.format("full"))
    given = (str(tmp_path / "c.toml"),)
    assert [c.op for c in select_cases(Selection(case_files=given))] == ["exp"]
    assert [c.op for c in select_cases(Selection(case_files=given, level="full", ops=("relu",)))] == ["relu"]
    assert [str(c) for c in select_cases(Selection(case_files=given, seed=3))] == ["exp[x=3,;f16;seed=3]"]
    with pytest.raises(UsageError, match="--level exhaustive has chunks of its own"):
        select_cases(Selection(case_files=given, level="exhaustive"))
    (tmp_path / "c.toml").write_text(text.format("none"))
    with pytest.raises(CaseError, match="level 'none'"):
        select_cases(Selection(case_files=given))


def test_models_are_listed(capsys):
    _, out, _ = opproof(capsys, "list", "models", "--json")
    assert [m["model"] for m in json.loads(out)] == _file.names()


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "capture.md").read_text(encoding="utf-8")
    exec(page.split("```python\n")[1].split("```")[0], {})
    assert Path("cases.toml").is_file()


@pytest.mark.parametrize("name", ["relu", "silu", "hardtanh"])
def test_an_activation_that_is_told_to_write_into_its_input(name):
    """nn.ReLU(inplace=True) calls F.relu(x, inplace=True), which returns the tensor that it was given."""
    x = torch.linspace(-3, 3, 12).reshape(3, 4)
    with record_calls() as calls:
        getattr(torch.nn.functional, name)(x + 0.1, inplace=True)
    assert [case.op for case in calls.cases] == ["add", name]
    assert not calls.unmapped
