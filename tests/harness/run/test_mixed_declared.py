"""A backend is asked for tensors of several dtypes where it says so, in each of the ways to say it."""

import os
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from _ask import attempted, judged
from _c_build import compiled, needs_cc

from opproof.backends.loaded import resolve_members
from opproof.backends.numpy import NumPy
from opproof.cases import Case
from opproof.core.errors import BackendError, CaseError
from opproof.harness.reference.valid_case import check_case
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import load

HONEST = NumPy()
CASE = "matmul[a=5x33;b=33x7;f32;mixed=b:f16]"
SAID = "the backend does not declare calls of mixed dtypes"


def through(spec, case, mode="forward"):
    """The judgement on a case of a backend in another process."""
    host = start_host(spec, HostLimits(1, 30.0, 2**30))
    try:
        return run_task(host, Task(spec, case, mode), load(case.partition("[")[0]), 30.0).judgement
    finally:
        host.close()


def test_a_backend_that_says_nothing_is_not_charged():
    found = judged(SimpleNamespace(forward=HONEST.forward), CASE)
    assert (found.verdict, found.message) == ("UNSUPPORTED", SAID)
    assert judged(SimpleNamespace(forward=HONEST.forward, mixed=True), CASE).verdict == "PASS"
    of_8_bits = judged(SimpleNamespace(forward=HONEST.forward, mixed=True), CASE.replace("b:f16", "b:f8e4m3"))
    assert of_8_bits.message == "the backend does not declare the dtype f8e4m3"


def test_what_is_neither_yes_nor_no():
    with pytest.raises(BackendError, match="its mixed is 'yes'; expected True, or False"):
        resolve_members(SimpleNamespace(forward=HONEST.forward, mixed="yes"), "mine")


def test_all_dtypes_are_told():
    told = []

    def supports(op, dtypes, params):
        del op, params
        told.append(list(dtypes))
        return "no f16 here" if "f16" in dtypes else True

    backend = SimpleNamespace(forward=HONEST.forward, mixed=True, supports=supports)
    assert judged(backend, CASE).message == "no f16 here"
    assert told == [["f32", "f16"]]


@pytest.mark.parametrize(("word", "declared"), [("f32+f16", "f16"), ("f32", "f16"), ("f32+bf16", None)])
def test_precision_is_that_of_the_dtypes_together_or_of_results(word, declared):
    def compute(op, dtype, mode):
        return "f16" if (op, dtype, mode) == ("matmul", word, "forward") else None

    backend = SimpleNamespace(forward=HONEST.forward, mixed=True, compute=compute)
    assert attempted(backend, CASE).rules.declared == declared


@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_in_a_process_of_its_own(mode):
    assert through("numpy", CASE, mode).verdict == "PASS"


@pytest.mark.skipif(os.name != "posix", reason="exec: backends need POSIX")
def test_over_the_exec_protocol(tmp_path):
    drill = Path(__file__).parents[2] / "_exec_backend.py"
    program = tmp_path / "mine.py"
    text = drill.read_text(encoding="utf-8")
    program.write_text(text.replace('"device": "cpu"}', '"device": "cpu", "mixed": "true"}'))
    spec = f"exec:{shlex.join([sys.executable, str(program)])}"
    assert through(spec, CASE).verdict == "PASS"
    assert through(spec, CASE, "gradient").verdict == "PASS"
    program.write_text(text)
    assert through(spec, CASE).message == SAID


#: dot of f32 and bf16, whose patterns are the upper halves of those of f32; READ says what is made of one.
SOURCE = r"""
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_mixed(void) { return MIXED; }
static float widened(uint16_t bits) {
  union { uint32_t bits; float value; } wide = { (uint32_t)READ << 16 };
  return wide.value;
}
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  const DLTensor *a = call->inputs[0], *b = call->inputs[1];
  if (a->dtype.code != kDLFloat || b->dtype.code != kDLBfloat || n_outputs != 1) {
    snprintf(message, message_size, "codes %d and %d", a->dtype.code, b->dtype.code);
    return OPPROOF_UNSUPPORTED;
  }
  double sum = 0;
  for (int64_t i = 0; i < a->shape[0]; i++)
    sum += (double)((float *)a->data)[i * a->strides[0]] * widened(((uint16_t *)b->data)[i * b->strides[0]]);
  *(float *)outputs[0]->data = (float)sum;
  return OPPROOF_OK;
}
"""
DOT = "dot[a=33,;b=33,;f32;mixed=b:bf16]"


@needs_cc
@pytest.mark.parametrize(
    ("mixed", "read", "verdict"),
    [("1", "bits", "PASS"), ("1", "(bits & 0xFFF0)", "WRONG_VALUE"), ("0", "bits", "UNSUPPORTED")],
)
def test_over_the_c_interface(tmp_path, mixed, read, verdict):
    library = compiled(tmp_path, SOURCE.replace("MIXED", mixed).replace("READ", read))
    assert through(str(library), DOT).verdict == verdict


@needs_cc
def test_a_c_library_that_says_neither(tmp_path):
    library = compiled(tmp_path, SOURCE.replace("MIXED", "2").replace("READ", "bits"))
    with pytest.raises(BackendError, match="returned 2: expected 1 where it takes mixed dtypes, or 0"):
        start_host(str(library), HostLimits(1, 30.0, 2**30))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("matmul[a=5x3;b=3x7;f32;mixed=a:f16]", "results have the dtype of a, f32; give that, and mixed= of others."),
        ("mul_mat_id[a=4x5x3;b=3x2x3;ids=3x2;f32;mixed=b:f16]", "results have the dtype of b, f32"),
        ("mul_mat_id[a=4x5x3;b=3x2x3;ids=3x2;f32;mixed=ids:f16]", "ids of mul_mat_id holds no floats"),
        ("matmul_quantized[a=3x64;b=5x36;type=q4_0;f32;mixed=b:f16]", "b of matmul_quantized holds no floats"),
    ],
)
def test_a_tensor_that_cannot_have_another_dtype(text, said):
    with pytest.raises(CaseError) as raised:
        check_case(Case.parse(text))
    assert said in str(raised.value)
