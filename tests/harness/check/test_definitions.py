"""Files of benchmarks: FlashInfer-Bench's definitions and solutions, GPU MODE's tasks."""

import json
import subprocess
import sys

import pytest

REFERENCE = """
import torch


def run(x, weight, scale):
    assert x.shape[-1] == 48
    h = x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6)
    return (h * weight.float() * scale).to(x.dtype)
"""
RIGHT = """
from parts.norm import normalise


def run(x, weight, scale, out):
    out.copy_(normalise(x.float()) * weight.float() * scale)
"""
PARTS = """
import torch


def normalise(h):
    return torch.nn.functional.rms_norm(h, h.shape[-1:], eps=1e-6)
"""
#: Never writes the last row.
UNWRITTEN = RIGHT.replace("out.copy_(normalise(x.float())", "out[:-1].copy_(normalise(x[:-1].float())")
#: Returns its result, and leaves the scale out.
RETURNS = """
import torch


def run(x, weight, scale):
    return torch.nn.functional.rms_norm(x.float(), x.shape[-1:], weight.float(), 1e-6).to(x.dtype)
"""
DEFINITION = {
    "name": "scaled_norm_h48",
    "op_type": "rmsnorm",
    "axes": {"batch": {"type": "var"}, "hidden": {"type": "const", "value": 48}},
    "inputs": {
        "x": {"shape": ["batch", "hidden"], "dtype": "bfloat16"},
        "weight": {"shape": ["hidden"], "dtype": "bfloat16"},
        "scale": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["batch", "hidden"], "dtype": "bfloat16"}},
    "reference": REFERENCE,
}
WORKLOAD = {"uuid": "1", "axes": {"batch": 5}, "inputs": {"scale": {"type": "scalar", "value": 0.5}}}


def write(folder, text=RIGHT, *, definition=DEFINITION, workload=WORKLOAD, **changes):
    spec = {"language": "triton", "entry_point": "main.py::run", "destination_passing_style": "out" in text}
    sources = [{"path": "main.py", "content": text}, {"path": "parts/norm.py", "content": PARTS}]
    solution = {"name": "mine", "definition": "scaled_norm_h48", "spec": spec, "sources": sources} | changes
    (folder / "d.json").write_text(json.dumps(definition))
    (folder / "s.json").write_text(json.dumps(solution))
    (folder / "w.jsonl").write_text(json.dumps({"definition": definition["name"], "workload": workload}) + "\n")


def check(folder, *args):
    command = [
        sys.executable,
        "-m",
        "opproof.harness",
        "check",
        *(args or ("d.json", "s.json", "--workload", "w.jsonl")),
    ]
    return subprocess.run([*command, "--seconds", "8"], cwd=folder, capture_output=True, text=True, check=False)


def test_a_solution_that_writes_its_outputs_is_right(tmp_path):
    write(tmp_path)
    done = check(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "candidate is run: " in done.stdout
    assert "tried: as given" in done.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (UNWRITTEN, "WRONG_VALUE  run[x=5x48;weight=48,;bf16]  forward  candidate"),
        (RETURNS, "scale of the reference has no effect on the candidate"),
    ],
)
def test_a_wrong_one_fails_and_is_tried_again_by_the_same_files(tmp_path, text, said):
    write(tmp_path, text)
    done = check(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert said in done.stdout
    assert "again: opproof check d.json s.json --only 'as given' --workload w.jsonl" in done.stdout


INDEXED = DEFINITION | {"inputs": DEFINITION["inputs"] | {"at": {"shape": ["batch"], "dtype": "int32"}}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"definition": {"name": "x"}}, "d.json is no Definition of FlashInfer-Bench"),
        (
            {"definition": DEFINITION | {"name": "other"}},
            "s.json is a solution of scaled_norm_h48, and d",
        ),
        ({"definition": INDEXED}, "scaled_norm_h48 takes whole numbers, at: give the workload that has them"),
        ({"spec": {"language": "cuda", "entry_point": "main.py::run"}}, "s.json is in cuda: expected one of python"),
        ({"spec": {"language": "python", "entry_point": "none.py::run"}}, "expected FILE.py::FUNCTION"),
        ({"sources": [{"path": "../main.py", "content": ""}]}, "has a source '../main.py' outside of its folder"),
        ({"workload": {"axes": 3}}, "w.jsonl holds no workload of FlashInfer-Bench in its first line"),
    ],
)
def test_other_files_are_one_sentence(tmp_path, changes, said):
    write(tmp_path, **changes)
    done = check(tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert said in done.stderr


TASK = 'name: doubled\ntests:\n  - {"size": 33, "seed": 4242}\n  - {"size": 64, "seed": 1}\n'
GPU_MODE = """
import torch


def generate_input(size, seed):
    x = torch.randn(3, size, generator=torch.Generator().manual_seed(seed))
    return x, torch.empty_like(x)


def ref_kernel(data):
    x, _ = data
    return 2 * torch.tanh(x)
"""
SUBMISSION = """
import torch


def custom_kernel(data):
    x, _ = data
    return torch.tanh(x) * FACTOR
"""


@pytest.mark.parametrize(("factor", "status"), [("2", 0), ("2.001", 1)])
def test_a_task_of_gpu_mode(tmp_path, factor, status):
    (tmp_path / "task.yml").write_text(TASK)
    (tmp_path / "reference.py").write_text(GPU_MODE)
    (tmp_path / "submission.py").write_text(SUBMISSION.replace("FACTOR", factor))
    done = check(tmp_path, "reference.py", "submission.py")
    assert done.returncode == status, done.stdout + done.stderr
    assert f"custom_kernel is {'not ' * status}ref_kernel" in done.stdout


def test_a_task_without_a_test_is_one_sentence(tmp_path):
    (tmp_path / "task.yml").write_text("name: doubled\n")
    (tmp_path / "reference.py").write_text(GPU_MODE)
    (tmp_path / "submission.py").write_text(SUBMISSION)
    done = check(tmp_path, "reference.py", "submission.py")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "task.yml has no test: expected `tests:`" in done.stderr
