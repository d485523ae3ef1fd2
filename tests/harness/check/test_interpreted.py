"""Triton's interpreter where it meets bfloat16 and float8: told, and mended by what `opproof init triton` writes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from opproof.harness import skeletons

SHIM = Path(next(iter(skeletons.__path__))) / "triton" / "interpreter.py.in"
SAID = "Triton's interpreter adds their bit patterns and truncates casts"
#: In a process of its own: what a kernel is, and what the interpreter does, is settled there once.
PROGRAM = """
import os, sys
os.environ["TRITON_INTERPRET"] = "1"
import torch
import triton
import triton.language as tl
import opproof
if "mend" in sys.argv:
    import interpreter
    interpreter.mend()
    interpreter.mend()


@triton.jit
def step(x, y, out, n, width: tl.constexpr):
    at = tl.program_id(0) * width + tl.arange(0, width)
    a, b = tl.load(x + at, mask=at < n), tl.load(y + at, mask=at < n)
    c = a * b + a - b
    tl.store(out + at, tl.where(a < b, c, -c), mask=at < n)


@triton.jit
def scaled(x, out, n, width: tl.constexpr):
    at = tl.program_id(0) * width + tl.arange(0, width)
    tl.store(out + at, tl.load(x + at, mask=at < n).to(tl.float32) * 1.7, mask=at < n)


@triton.jit
def summed(x, out, n, width: tl.constexpr):
    at = tl.arange(0, width)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0) + tl.sum(tl.load(x + at), 0) + tl.max(tl.load(x + at), 0))


def run(kernel, *tensors):
    out = torch.empty_like(tensors[0])
    kernel[(triton.cdiv(out.numel(), 64),)](*tensors, out, out.numel(), width=64)
    return out


def like(x, y):
    c = x * y + x - y
    return torch.where(x < y, c, -c)


def launch(x, y):
    return run(step, x, y)


dtype = sys.argv[1]
report = opproof.check(
    launch, like=like, inputs=[(3, 20)] * 2, dtype=dtype, compute="storage" if dtype == "bf16" else None,
    gradients=False, raises=False, neighbours=False,
)
print(report.ok, *report.not_judged, sep="|")
if "mend" in sys.argv:
    x = torch.randn(64, generator=torch.Generator().manual_seed(0))
    for kind in (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
        t = x.to(kind)
        assert torch.equal(run(scaled, t).float(), (t.float() * 1.7).to(kind).float()), kind
    t = (8 * x).round().bfloat16()
    numbers = t.float().cumsum(0) + t.float().sum() + t.float().max()
    assert (run(summed, t).float() - numbers).abs().max() <= 2.0**-6 * numbers.abs().max()
"""


@pytest.mark.parametrize(
    ("arguments", "passes", "is_told"),
    [(("bf16",), False, True), (("bf16", "mend"), True, False), (("f32",), True, False)],
)
def test_numbers_of_few_digits_are_told_unless_they_are_mended(tmp_path, arguments, passes, is_told):
    shutil.copy(SHIM, tmp_path / "interpreter.py")
    (tmp_path / "program.py").write_text(PROGRAM)
    source = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "program.py", *arguments], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{source}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    line = done.stdout.splitlines()[-1]
    assert line.startswith(str(passes))
    assert (SAID in line) is is_told


def test_a_file_is_told_by_what_it_says(tmp_path, monkeypatch):
    from opproof.harness.check.call.forked import describe_interpreter
    from opproof.harness.check.call.isolated import Located

    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    asks = 'import os\nos.environ["TRITON_INTERPRET"] = "1"\nimport triton\n'
    for text, is_told in (
        (asks, True),
        (asks + "mend()\n", False),
        ("import triton\n", False),
        ("import torch\n", False),
    ):
        (tmp_path / "kernel.py").write_text(text)
        candidate = Located(tmp_path / "kernel.py", "candidate")
        assert (SAID in describe_interpreter(candidate, ["f32", "bf16"])) is is_told
        assert describe_interpreter(candidate, ["f32"]) == ""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    (tmp_path / "kernel.py").write_text("import triton\n")
    assert SAID in describe_interpreter(candidate, ["f8e4m3"])
