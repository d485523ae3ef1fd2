"""The C library of examples/emulated is right on every processor, and each planted defect shows on one of them alone.

CI's image has neither qemu nor the cross compilers; the kernels and the protocol are judged there on its own processor.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opproof.reports import read_results

FOLDER = Path(__file__).parents[3] / "examples" / "emulated"
HERE = platform.machine()
OPS = "relu,add,matmul,softmax,sum,rms_norm"
#: Operators whose planted defect shows, by processor.
FOUND = {HERE: set(), "aarch64": {"softmax"}, "riscv64": set(), "s390x": {"relu"}}

pytestmark = pytest.mark.skipif(os.name != "posix", reason="exec: backends need POSIX")


def opproof(*arguments, cwd):
    command = [sys.executable, "-m", "opproof.harness", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(params=sorted(FOUND))
def processor(request, tmp_path):
    """The name of a processor, and by the name of a program in tmp_path the backend that runs it there."""
    name = request.param
    emulated = name != HERE
    needed = [f"{name}-linux-gnu-gcc", f"qemu-{name}", "make"] if emulated else ["cc", "make"]
    if missing := [program for program in needed if shutil.which(program) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    subprocess.run(["make", "-s", f"BUILD={tmp_path}", f"CPUS={name}"], cwd=FOLDER, check=True)
    prefix = f"qemu-{name} -L /usr/{name}-linux-gnu " if emulated else ""
    return name, {built: f"exec:{prefix}{tmp_path / name / built}" for built in ("honest", "planted")}


def verdicts(backend, folder):
    options = ["-o", OPS, "--dtype", "f32", "--level", "smoke", "-j", "1", "--quiet", "--out", str(folder)]
    done = opproof("run", "-b", backend, *options, cwd=folder.parent)
    results = read_results(folder)[1]
    found = {(r.op, r.mode): set() for r in results}
    for r in results:
        found[r.op, r.mode].add(r.verdict)
    return done, found


def test_a_defect_shows_on_its_processor_alone(processor, tmp_path):
    name, backends = processor
    spoken = opproof("check-backend", backends["honest"], cwd=tmp_path)
    assert spoken.returncode == 0, spoken.stdout
    done, found = verdicts(backends["honest"], tmp_path / "honest")
    assert done.returncode == 0, done.stdout
    with_values = {op for (op, mode), got in found.items() if mode == "forward" and "PASS" in got}
    assert with_values == set(OPS.split(","))
    with_gradient = {op for (op, mode), got in found.items() if mode == "gradient" and "PASS" in got}
    assert with_gradient == {"relu", "add", "softmax", "sum"}
    assert f"emulated) 1 {name}" in done.stdout
    done, found = verdicts(backends["planted"], tmp_path / "planted")
    assert done.returncode == bool(FOUND[name]), done.stdout
    assert {op for (op, _), got in found.items() if "WRONG_VALUE" in got} == FOUND[name]
    assert {op for (op, _), got in found.items() if got - {"PASS", "UNSUPPORTED"}} == FOUND[name]
