"""A backend is asked for the dtypes that it declares, in each of the ways to declare them, and for no others."""

import os
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from _ask import judged
from _c_build import compiled, needs_cc

from opproof.backends.loaded import resolve_members
from opproof.backends.numpy import NumPy
from opproof.core.errors import BackendError
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import load

HONEST = NumPy()
CASES = {dtype: f"add[a=7x33;b=7x33;{dtype}]" for dtype in ("i8", "i16", "i32", "u8", "f8e4m3", "f8e5m2")}
SAID = "the backend does not declare the dtype i8"


def of(*dtypes):
    return SimpleNamespace(forward=HONEST.forward, dtypes=dtypes)


@pytest.mark.parametrize("dtype", CASES)
def test_declared_is_asked_for(dtype):
    assert judged(of(dtype), CASES[dtype]).verdict == "PASS"


def test_a_backend_that_says_nothing_is_not_charged():
    found = judged(SimpleNamespace(forward=HONEST.forward), CASES["i8"])
    assert (found.verdict, found.message) == ("UNSUPPORTED", SAID)
    assert judged(of("i16"), CASES["i8"]).verdict == "UNSUPPORTED"
    assert judged(of(), "add[a=7x33;b=7x33;f32]").verdict == "PASS"


@pytest.mark.parametrize("declared", ["i8", ("int8",), 8])
def test_what_is_no_tuple_of_dtypes(declared):
    with pytest.raises(BackendError) as raised:
        resolve_members(SimpleNamespace(forward=HONEST.forward, dtypes=declared), "mine")
    assert f"its dtypes are {declared!r}; expected a tuple of words: 'f8e4m3'" in str(raised.value)


def through(spec, case):
    """The judgement on a case of a backend in another process."""
    host = start_host(spec, HostLimits(1, 30.0, 2**30))
    try:
        return run_task(host, Task(spec, case, "forward"), load(case.partition("[")[0]), 30.0).judgement
    finally:
        host.close()


@pytest.mark.skipif(os.name != "posix", reason="exec: backends need POSIX")
def test_over_the_exec_protocol(tmp_path):
    drill = Path(__file__).parents[2] / "_exec_backend.py"
    program = tmp_path / "mine.py"
    text = drill.read_text(encoding="utf-8").replace('"device": "cpu"}', '"device": "cpu", "dtypes": DTYPES}')
    program.write_text(text.replace("HONEST, KNOWN", 'DTYPES = \'["u8", "f8e4m3", "i16"]\'\nHONEST, KNOWN'))
    spec = f"exec:{shlex.join([sys.executable, str(program)])}"
    for dtype in ("u8", "f8e4m3", "i16"):
        assert through(spec, CASES[dtype]).verdict == "PASS"
    assert through(spec, CASES["i8"]).message == SAID
    program.write_text(text.replace("HONEST, KNOWN", "DTYPES = '[\"int8\"]'\nHONEST, KNOWN"))
    with pytest.raises(BackendError, match="dtypes in the hello hold 'int8'; expected some of f8e4m3"):
        start_host(spec, HostLimits(1, 30.0, 2**30))


#: add of i8, row by row; of f8e4m3 the first operand, so that types are told apart.
SOURCE = r"""
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
const char *opproof_dtypes(void) { return "DECLARED"; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  const DLTensor *a = call->inputs[0], *b = call->inputs[1];
  if (a->dtype.code != kDLInt || a->dtype.bits != 8 || n_outputs != 1) {
    snprintf(message, message_size, "code %d of %d bits", a->dtype.code, a->dtype.bits);
    return OPPROOF_UNSUPPORTED;
  }
  for (int64_t i = 0; i < a->shape[0] * a->shape[1]; i++)
    ((int8_t *)outputs[0]->data)[i] = OFF + ((int8_t *)a->data)[i] + ((int8_t *)b->data)[i];
  return OPPROOF_OK;
}
"""


@needs_cc
def test_over_the_c_interface(tmp_path):
    library = compiled(tmp_path, SOURCE.replace("DECLARED", "i8,u8, f8e4m3,f8e5m2").replace("OFF", "0"))
    assert through(str(library), CASES["i8"]).verdict == "PASS"
    assert through(str(library), CASES["u8"]).message == "code 1 of 8 bits"
    assert through(str(library), CASES["f8e4m3"]).message == "code 10 of 8 bits"
    assert through(str(library), CASES["f8e5m2"]).message == "code 12 of 8 bits"
    assert through(str(library), CASES["i16"]).message == "the backend does not declare the dtype i16"


@needs_cc
def test_a_c_library_that_is_off_by_one(tmp_path):
    library = compiled(tmp_path, SOURCE.replace("DECLARED", "i8").replace("OFF", "1"))
    assert through(str(library), CASES["i8"]).verdict == "WRONG_VALUE"
