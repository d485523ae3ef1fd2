"""The same call with other numbers of threads: what is wrong with one of them is found, and the number named."""

import os
import shlex
import sys
from pathlib import Path

import pytest
from _c_build import compiled, needs_cc
from _runs import opproof

from opproof.backends.loaded import resolve_members
from opproof.core.errors import BackendError
from opproof.core.verdicts import Verdict
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.plan import Selection
from opproof.harness.run.results.resume import Settings, settings_of_interrupted
from opproof.harness.run.task import HostLimits, Task, repro_command_of
from opproof.reference_ops import load
from opproof.reports import read_results

RELU, LOGSUMEXP = "relu[x=4x33;f32]", "logsumexp[x=40x33;dim=-1;f32]"

#: Threads take rows in turn, or parts of a sum; FAULT happens with 8 of them.
BACKEND = """
import os
import numpy as np

version = "1"
threads = 1
calls = 0


def set_threads(n):
    global threads
    threads = n


def forward(op, inputs, params):
    global calls
    (x,) = inputs
    calls += 1
    if op == "logsumexp":
        return np.log(sum(part.sum(axis=-1) for part in np.array_split(np.exp(x), threads, axis=-1)))
    y = np.maximum(x, x.dtype.type(0))
    if threads == 8:
        FAULT
    return y


def vjp(op, inputs, params, cotangents, needs):
    (x,), (g,) = inputs, cotangents
    d = np.where(x > 0, g, x.dtype.type(0))
    if threads == 8:
        d[-1, -3:] = 0
    return [d]
"""
FAULTS = {
    "y.ravel()[-5:] = 0": (Verdict.WRONG_VALUE, ""),
    "y.ravel()[-5:] += calls * 1e-9": (Verdict.NOT_REPEATABLE, "the same call gave other bits"),
    "raise ValueError('no stack for so many')": (Verdict.ERROR, "ValueError: no stack for so many"),
    "return y[:3]": (Verdict.WRONG_SHAPE, "output y has shape (3, 33), expected (4, 33)"),
    "x[0, 0] += 1": (Verdict.INPUT_CHANGED, "input x"),
    "os._exit(3)": (Verdict.CRASH, "the process"),
    "while True: pass": (Verdict.TIMEOUT, "no answer"),
}


@pytest.fixture
def written(tmp_path):
    def backend(fault):
        path = tmp_path / "backend.py"
        path.write_text(BACKEND.replace("FAULT", fault), encoding="utf-8")
        return str(path)

    return backend


def judged(spec, case, mode="forward", threads=(1, 2, 8), timeout=30.0, *, apart=False, **options):
    host = start_host(spec, HostLimits(1, timeout, 2**32, in_process=not apart))
    try:
        task = Task(spec, case, mode, threads=threads, **options)
        return run_task(host, task, load(case.partition("[")[0]), timeout).judgement
    finally:
        host.close()


@pytest.mark.parametrize(("fault", "verdict", "said"), [(f, *expected) for f, expected in FAULTS.items()])
def test_what_is_wrong_with_eight_threads_only(written, fault, verdict, said):
    """With one and with two the same kernel passes."""
    spec, apart = written(fault), verdict in (Verdict.CRASH, Verdict.TIMEOUT)
    assert judged(spec, RELU, threads=(1, 2)).verdict is Verdict.PASS
    judgement = judged(spec, RELU, timeout=1.5 if apart else 30.0, apart=apart)
    assert judgement.verdict is verdict, judgement.message
    assert judgement.message.startswith(f"with 8 threads: {said}"), judgement.message


def test_gradients_too(written):
    judgement = judged(written("pass"), RELU, "gradient", threads=(2, 8))
    assert judgement.verdict is Verdict.WRONG_GRADIENT
    assert judgement.message.startswith("with 8 threads: ")


def test_sums_taken_apart_pass_and_are_told(written):
    judgement = judged(written("pass"), LOGSUMEXP)
    assert judgement.verdict is Verdict.PASS
    assert "other bits with 2 threads than with 1, within the bound: output y at [" in judgement.message


def test_each_number_is_asked_again(written):
    """A race that three calls do not meet."""
    spec = written("y.ravel()[3] += 1e-9 * (calls > 60)")
    assert judged(spec, RELU).verdict is Verdict.PASS
    judgement = judged(spec, RELU, repeat=12)
    assert judgement.verdict is Verdict.NOT_REPEATABLE
    assert judgement.message.startswith("with 8 threads: call ")


def test_a_backend_that_cannot_be_told_declines(tmp_path, capsys):
    path, out = tmp_path / "backend.py", tmp_path / "out"
    path.write_text("def forward(op, inputs, params):\n    return inputs[0].clip(0)\n", encoding="utf-8")
    args = ["run", "-b", path, "--case", RELU, "--mode", "forward", "--threads", "1,2", "-j", 1, "--quiet"]
    assert opproof(capsys, *args, "--in-process", "--out", out)[0] == 3
    (result,) = read_results(out)[1]
    assert (result.verdict, "no set_threads" in result.message) == (Verdict.UNSUPPORTED, True)


def test_a_set_threads_that_is_no_function():
    class Backend:
        set_threads = 4

        def forward(self, op, inputs, params):
            return inputs[0]

    with pytest.raises(BackendError, match="its set_threads is 4; expected a function"):
        resolve_members(Backend(), "mine")


@pytest.mark.parametrize("name", ["torch", "ggml", "onnxruntime"])
def test_built_in_backends_are_told(name):
    pytest.importorskip({"ggml": "pywhispercpp"}.get(name, name))
    case = "matmul[a=65x129;b=129x33;f32]"
    assert judged(name, case, threads=(1, 2, 3), apart=True).verdict is Verdict.PASS


@pytest.mark.skipif(os.name != "posix", reason="exec: backends need POSIX")
@pytest.mark.parametrize(
    ("word", "verdict", "said"),
    [("", Verdict.WRONG_VALUE, "with 8 threads: "), ("untold", Verdict.UNSUPPORTED, "the backend cannot be told")],
)
def test_a_program_is_told(word, verdict, said):
    path = Path(__file__).parents[2] / "_threads_program.py"
    judgement = judged(f"exec:{shlex.join([sys.executable, str(path), word])}", RELU, apart=True)
    assert (judgement.verdict, judgement.message.startswith(said)) == (verdict, True), judgement.message


#: relu whose threads take equal parts; what is left over is the last one's, who forgets it where there are 8.
C = r"""
#include <string.h>
%s
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  const float *x = (const float *)call->inputs[0]->data;
  float *y = (float *)outputs[0]->data;
  int64_t n = 4 * 33;
  if (strcmp(call->op, "relu")) return OPPROOF_UNSUPPORTED;
  memset(y, 0, n * sizeof(float));
  %s
  {
    int64_t threads = %s, me = %s, own = n / threads;
    int64_t ends = me == threads - 1 && threads != 8 ? n : (me + 1) * own;
    for (int64_t i = me * own; i < ends; i++) y[i] = x[i] > 0 ? x[i] : 0;
  }
  return OPPROOF_OK;
}
"""
OPENMP = C % ("#include <omp.h>", '_Pragma("omp parallel")', "omp_get_num_threads()", "omp_get_thread_num()")
OWN = C % (
    "static int32_t count = 1;\nvoid opproof_set_threads(int32_t threads) { count = threads; }",
    "for (int32_t k = 0; k < count; k++)",
    "count",
    "k",
)


@needs_cc
@pytest.mark.parametrize("source", [OPENMP, OWN], ids=["OpenMP", "opproof_set_threads"])
def test_libraries_in_c(tmp_path, source):
    """The 4 numbers that 8 threads leave over of 132 are the last one's."""
    spec = str(compiled(tmp_path, source, flags=("-fopenmp",)))
    assert judged(spec, RELU, threads=(1, 3), apart=True).verdict is Verdict.PASS
    judgement = judged(spec, RELU, apart=True)
    assert judgement.verdict is Verdict.WRONG_VALUE, judgement.message
    assert judgement.message.startswith("with 8 threads: ")


@needs_cc
def test_a_library_without_threads_declines(tmp_path):
    source = C % ("", "for (int k = 0; k < 1; k++)", "1", "k")
    assert judged(str(compiled(tmp_path, source)), RELU, apart=True).verdict is Verdict.UNSUPPORTED


def test_the_repro_line_and_a_run_read_again_ask_the_same(written, tmp_path, capsys):
    assert "--threads 1,8" in repro_command_of(Task("torch", RELU, "forward", threads=(1, 8)))
    out = tmp_path / "out"
    args = ["run", "-b", written("pass"), "--case", RELU, "--mode", "forward", "--in-process", "--quiet", "-j", 1]
    assert opproof(capsys, *args, "--threads", "2, 8,2", "--out", out)[0] == 0
    assert settings_of_interrupted(Settings((), Selection()), out).threads == (2, 8)


@pytest.mark.parametrize("value", ["0", "two", "1,-8", "1;2"])
def test_numbers_that_are_none(capsys, value):
    status, _, said = opproof(capsys, "run", "-b", "numpy", "--threads", value)
    assert (status, "--threads" in said) == (2, True)
