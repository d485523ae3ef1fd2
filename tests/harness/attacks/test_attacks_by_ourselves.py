"""The backend does not pay for the judge: our faults are HARNESS_ERROR, and our work is not in its limits."""

import os
import subprocess
import sys

import pytest
from _attacker import command, records, run, written

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.reference.question import make_question
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.request import Request, wanted_of
from opproof.harness.run.task import HostLimits
from opproof.reference_ops import load
from opproof.reports import read_results

OPERATOR = '''
"""bent: x². Shapes: x any; y as x. Source: the definition."""

import numpy as np

SMOKE = ["x=7x33"]
STANDARD = ["x=9,"]


def forward(x):
    return x * x


def kinks(x):
    raise ArithmeticError("where was it again")
'''
BENT = 'UNARY["bent"] = np.square'


@pytest.fixture
def bent(tmp_path):
    """A folder with an operator of the user's own, whose kinks raises."""
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "bent.py").write_text(OPERATOR.lstrip(), encoding="utf-8")
    return str(tmp_path / "ops")


def test_kinks_that_raises(tmp_path, bent):
    cases = ["bent[x=7x33;f32]", "neg[x=7x33;f32]"]
    ours, other = records(written(tmp_path, BENT), cases, ops=(bent,))
    assert str(ours.verdict) == "HARNESS_ERROR"
    assert "where was it again" in ours.message
    assert "kinks" in ours.message
    assert "bent.py" in ours.message
    assert str(other.verdict) == "PASS"


@pytest.mark.parametrize("chosen", [("--case", "bent[x=7x33;f32]"), ("-o", "bent", "--level", "smoke")])
def test_only_such_records(tmp_path, bent, chosen):
    """Also of a case given by its id, as in the line that repeats a record."""
    done = run(tmp_path, written(tmp_path, BENT), (), *chosen, "--ops", bent)
    assert done.returncode == 4, done.stdout + done.stderr
    assert {str(r.verdict) for r in read_results(tmp_path / "out")[1]} == {"HARNESS_ERROR"}


#: What the judge is to do without: `import gguf` raises ImportError in every process of the run.
WITHOUT = "import sys\nsys.modules['gguf'] = None\n"


@pytest.mark.parametrize("backend", ["torch", "its own"])
def test_a_package_of_ours_is_missing(tmp_path, backend):
    """Whoever is tested: what is expected cannot be told, which is not the backend's to decline, nor its error."""
    if backend == "torch":
        pytest.importorskip("torch")
    (tmp_path / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    spec = written(tmp_path, "") if backend == "its own" else backend
    done = run(tmp_path, spec, ("dequantize[data=5x18;type=q4_0;f32]",), PYTHONPATH=path)
    assert done.returncode == 4, done.stdout + done.stderr
    (result,) = read_results(tmp_path / "out")[1]
    assert str(result.verdict) == "HARNESS_ERROR", result.message
    assert "gguf" in result.message


LARGE = (
    "matmul[a=1x4096;b=4096x4096;f16]",
    "scaled_dot_product_attention[query=1x8x512x64;key=1x8x512x64;value=1x8x512x64;f32]",
)


@pytest.mark.parametrize("case", LARGE)
def test_a_large_product_beside_a_busy_process(tmp_path, case):
    """At the default limits."""
    pytest.importorskip("torch")
    busy = subprocess.Popen([sys.executable, "-c", f"import os\nwhile os.getppid() == {os.getpid()}: pass"])
    try:
        done = subprocess.run(
            command(tmp_path, "torch", (case,)), capture_output=True, text=True, timeout=500, check=False
        )
    finally:
        busy.kill()
        busy.wait()
    assert done.returncode == 0, done.stdout + done.stderr
    assert [str(r.verdict) for r in read_results(tmp_path / "out")[1]] == ["PASS"]


def test_a_large_gradient_in_its_hosts_memory_alone():
    """A quarter of the default limit: the float64 copies that the judge makes of the operands lie elsewhere."""
    pytest.importorskip("torch")
    pair = make_question(Case.parse("matmul[a=2048x2048;b=2048x2048;f32]"), load("matmul"), Mode.GRADIENT)
    host = start_host("torch", HostLimits(1, 300.0, 1 << 30))
    try:
        gradients = host.call(Request(pair.case_data, wanted_of(pair.case_data, pair.decoy_data.outputs)), 300.0)
    finally:
        host.close()
    assert [g.shape for g in gradients] == [(2048, 2048), (2048, 2048)]
