"""What a backend says computed its answers: in records and reports, and required of it."""

import sys

import pytest
from _c_build import compiled, needs_cc
from _runs import completed

from opproof.core.verdicts import Mode, Verdict
from opproof.reports import Result, read_results
from opproof.reports.implementations import describe_implementations, require_impl

BACKEND = """
import numpy as np

impl = ""

def forward(op, inputs, params):
    global impl
    (x,) = inputs
    impl = "generic" if x.ndim > 2 else "avx512"
    return np.tanh(x) if op == "tanh" else np.exp(x)

def supports(op, dtypes, params):
    return True if op in ("tanh", "exp") else "no"
"""
EXEC = """
import json, struct, sys
import numpy as np
import safetensors.numpy as st

def read():
    head = sys.stdin.buffer.read(8)
    return sys.stdin.buffer.read(struct.unpack("<Q", head)[0]) if head else None

while (frame := read()) is not None:
    size = struct.unpack("<Q", frame[:8])[0]
    asked = json.loads(frame[8 : 8 + size])["__metadata__"]
    told, tensors = {"id": asked["id"], "kind": "hello", "name": "wordy"}, {}
    if asked["kind"] == "forward":
        told |= {"kind": "outputs", "impl": "fallback"}
        tensors = {"output.0": np.abs(st.load(frame)["input.0"])}
    answer = st.save(tensors, metadata=told)
    sys.stdout.buffer.write(struct.pack("<Q", len(answer)) + answer)
    sys.stdout.buffer.flush()
"""
CASES = "tanh[x=7x33;f32]", "tanh[x=3x5x7;f32]", "exp[x=7x33;f32]"


def run(folder, spec, *more, cases=CASES):
    asked = [part for case in cases for part in ("--case", case)]
    done = completed("run", "-b", spec, "--mode", "forward", *asked, "--out", str(folder), *more, cwd=folder.parent)
    return done, {r.case: r for r in read_results(folder)[1]}


def record(**said):
    fields = {"case": "abs[x=3;f32]", "op": "abs", "dtype": "f32", "backend": "mine", "mode": Mode.FORWARD}
    return Result(**{**fields, "verdict": Verdict.PASS, "repro": "opproof run", **said})


def test_a_backend_says_what_computed_each_answer(tmp_path):
    (tmp_path / "mine.py").write_text(BACKEND, encoding="utf-8")
    done, records = run(tmp_path / "out", str(tmp_path / "mine.py"))
    assert [records[case].impl for case in CASES] == [("avx512",), ("generic",), ("avx512",)]
    assert "computed by: avx512 (2 records: exp, tanh); generic (1 record: tanh)" in done.stdout
    for report in ("report.md", "report.html"):
        assert "computed by: avx512" in (tmp_path / "out" / report).read_text(encoding="utf-8")
    assert done.returncode == 0


@pytest.mark.parametrize("more", [(), ("--in-process",)], ids=["host", "in process"])
def test_a_silent_fall_back_fails_where_another_is_required(tmp_path, more):
    (tmp_path / "mine.py").write_text(BACKEND, encoding="utf-8")
    done, records = run(tmp_path / "out", str(tmp_path / "mine.py"), "--require-impl", "avx*", *more)
    assert [records[case].verdict for case in CASES] == [Verdict.PASS, Verdict.ERROR, Verdict.PASS]
    assert records[CASES[1]].message == "it was computed by generic, where avx* is required"
    assert records[CASES[1]].repro.endswith("--require-impl 'avx*'")
    assert done.returncode == 1


def test_a_program_says_it_too(tmp_path):
    (tmp_path / "wordy.py").write_text(EXEC, encoding="utf-8")
    case = "abs[x=7x33;f32]"
    spec = f"exec:{sys.executable} {tmp_path / 'wordy.py'}"
    _, records = run(tmp_path / "out", spec, "--require-impl", "fast", cases=(case,))
    assert records[case].impl == ("fallback",)
    assert records[case].message == "it was computed by fallback, where fast is required"


C_ABS = """
#include <math.h>
static const char *by = "none";
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
const char *opproof_impl(void) { return by; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  const DLTensor *x = call->inputs[0], *y = outputs[0];
  (void)n_outputs, (void)message, (void)message_size;
  if (strcmp(call->op, "abs") || x->ndim != 1 || x->dtype.bits != 32) return OPPROOF_UNSUPPORTED;
  float *from = (float *)((char *)x->data + x->byte_offset), *to = (float *)((char *)y->data + y->byte_offset);
  by = x->strides[0] == 1 ? "packed" : "strided";
  for (int64_t i = 0; i < x->shape[0]; i++) to[i] = fabsf(from[i * x->strides[0]]);
  return OPPROOF_OK;
}
"""


@needs_cc
def test_a_c_library_says_it_by_a_function(tmp_path):
    library = compiled(tmp_path, C_ABS, flags=("-lm",))
    cases = "abs[x=33,;f32]", "abs[x=33,;f32;layout=sliced]"
    _, records = run(tmp_path / "out", str(library), "--require-impl", "packed", cases=cases)
    assert [records[case].impl for case in cases] == [("packed",), ("strided",)]
    assert [records[case].verdict for case in cases] == [Verdict.PASS, Verdict.ERROR]


def test_what_says_nothing_is_not_what_is_required():
    told = require_impl(record(), "avx*")
    assert (told.verdict, told.message) == (
        Verdict.ERROR,
        "the backend does not say what computed it, where avx* is required",
    )
    assert require_impl(record(impl=("avx2", "avx512")), "avx*").verdict is Verdict.PASS
    assert require_impl(record(impl=("avx2", "scalar")), "avx*").verdict is Verdict.ERROR


def test_another_verdict_stands():
    wrong = record(verdict=Verdict.WRONG_VALUE, impl=("scalar",))
    assert require_impl(wrong, "avx*") is wrong
    assert require_impl(record(), "") == record()


def test_records_are_counted_by_what_computed_them():
    some = [record(impl=("fast",)), record(verdict=Verdict.WRONG_VALUE, impl=("slow",)), record(op="exp")]
    assert describe_implementations(some) == (
        "computed by: what it does not say (1 record: exp); fast (1 record: abs); slow (1 record, 1 fails: abs)"
    )
    assert describe_implementations([record()]) == ""
