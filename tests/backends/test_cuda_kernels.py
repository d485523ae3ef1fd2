"""The CUDA kernels of examples/cuda_kernels: on the CPU thread by thread, and on a GPU where there is one."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _adapters import results, unexpected

from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits

EXAMPLE = Path(__file__).parents[2] / "examples" / "cuda_kernels"
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(BROKEN_\w+)` \|.*\| `(.*)` \| ([A-Z_]+) \|$", re.MULTILINE)
BROKEN = {name: (case, verdict) for name, case, verdict in ROW.findall(README)}
OPS = ("add", "mul", "gelu", "softmax", "rms_norm", "matmul")

#: Shapes and layouts that a kernel gets wrong first: tails, lines longer than a block, broadcast batches, strides.
HARD = (
    "add[a=4x1x7;b=3x1;f32]",
    "mul[a=3x65;b=0d;f16]",
    "gelu[x=3x32;approximate=tanh;f16;layout=gapped]",
    "softmax[x=2x1025;dim=-1;f32;fill=wide]",
    "softmax[x=2x3x65;dim=1;bf16;layout=transposed]",
    "rms_norm[x=2x4099;weight=4099,;f32]",
    "rms_norm[x=3x33;weight=33,;f16;layout=sliced]",
    "matmul[a=2x1x4x7;b=3x7x2;f32]",
    "matmul[a=17,;b=2x17x3;f32]",
    "matmul[a=33x257;b=257x17;f32;layout=transposed]",
)

needs_cxx = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler g++")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA compiler nvcc")
GPU = Path("/dev/nvidia0").exists()


def built(compiler, folder, *options):
    """The library that the README's command for `compiler` builds, in `folder`."""
    (command,) = re.findall(rf"^    ({re.escape(compiler)} .*)$", README, re.MULTILINE)
    words = shlex.split(command)
    target = folder / words[words.index("-o") + 1]
    words[words.index("-o") + 1] = str(target)
    done = subprocess.run([*words, *options], cwd=EXAMPLE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    return built("g++", tmp_path_factory.mktemp("host"), "-O1", "-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Records of each fault's case by name and mode, all faults in one library."""
    library = built("g++", tmp_path_factory.mktemp("broken"), "-O0", *(f"-D{name}" for name in BROKEN))
    selected = Selection(cases=tuple(case for case, _ in BROKEN.values()))
    with Pool(HostLimits(jobs=1, timeout=60.0, memory=2**30)) as pool:
        return list(pool.run(make_tasks([str(library)], select_cases(selected), selected)))


@needs_cxx
def test_the_kernels_on_the_cpu(host):
    records = results(str(host), ops=OPS, level="smoke")
    assert not unexpected(records)
    assert {r.verdict for r in records} == {"PASS"}
    assert {r.dtype for r in records} == {"f64", "f32", "f16", "bf16"}
    records = results(str(host), cases=HARD)
    assert {r.verdict for r in records} == {"PASS"}, unexpected(records)
    assert len(records) == 2 * len(HARD)


@needs_cxx
def test_what_there_is_no_kernel_for(host):
    records = results(str(host), cases=("exp[x=7x33;f32]",), modes=("forward",))
    assert [(r.verdict, r.message) for r in records] == [("UNSUPPORTED", "there is no kernel for exp")]


@needs_cxx
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_kernel_is_found(broken, name):
    case, verdict = BROKEN[name]
    mode = "gradient" if verdict == "WRONG_GRADIENT" else "forward"
    (found,) = [r for r in broken if (r.case, r.mode) == (case, mode)]
    assert found.verdict == verdict, found
    if name == "BROKEN_BOUNDS":  # 256 threads for 231 elements
        text = r"output y: \d+ bytes past its end were written, the nearest \d bytes away"
        assert re.fullmatch(text, found.message)  # a byte that was written may be the one that was there


def test_the_readme_names_each_fault():
    text = "".join(p.read_text(encoding="utf-8") for p in sorted(EXAMPLE.glob("*.h")))
    assert set(re.findall(r"BROKEN_\w+", text)) == set(BROKEN)


@needs_nvcc
def test_the_kernels_on_a_gpu(tmp_path):
    """Where there is none, the run says so."""
    options = () if GPU else ("-Xcicc", "-O0", "-Xptxas", "-O0")
    library = built("nvcc", tmp_path, *options)
    if GPU:
        records = [*results(str(library), ops=OPS, level="smoke"), *results(str(library), cases=HARD)]
        assert {r.verdict for r in records} == {"PASS"}, unexpected(records)
        return
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", str(library), "-o", "gelu", "--level", "smoke"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert "no CUDA device is on this machine" in line
    assert "Traceback" not in line
