"""A candidate of C or Triton is called in a copy of the user's process: its death is a verdict and says of what."""

import ctypes
import functools
import os
import sys

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.copies import run_in_copy  # noqa: E402
from opproof.harness.check.call.forked import explain_no_fork, find_native  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
BUFFER = ctypes.create_string_buffer(8)


@pytest.fixture(autouse=True)
def _without_libraries_of_threads(monkeypatch):
    """Other tests of this process have loaded them."""
    for name in ("jax", "mlx.core", "tensorflow"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def softmax(x):
    return x.softmax(-1)


def checked(candidate, **options):
    return opproof.check(candidate, **{"like": softmax, "inputs": [(5, 24)], "raises": False, "seconds": 1, **options})


def of_some_rows(x):
    ctypes.memset(0 if x.shape[-1] == 25 else BUFFER, 0, 8)
    return x.softmax(-1)


def test_a_crash_at_one_size_is_a_verdict_that_says_what_was_called():
    report = checked(of_some_rows)
    (failure,) = report.failures["CRASH"]
    assert [*report.failures] == ["CRASH"]
    assert failure.message == "the candidate died of SIGSEGV, called with x float32 [5, 25]"
    assert "24 as 25" in report.tried
    assert "only='24 as 25'" in str(report)


def test_a_crash_of_the_first_call_is_one_too():
    def dies(x):
        ctypes.memset(0, 0, 8)
        return x

    report = checked(dies, neighbours=False)
    assert {r.message for r in report.results} == {"the candidate died of SIGSEGV, called with x float32 [5, 24]"}


def test_a_process_that_is_ended_is_told_with_its_status():
    def ends(x):
        ctypes.memset(BUFFER, 0, 8)
        os._exit(7)

    (failure,) = checked(ends, neighbours=False).failures["CRASH"]
    assert failure.message.startswith("the candidate ended its process with status 7, called with x float32 [5, 24]")


def test_what_lies_otherwise_is_said_with_how():
    def of_rows(x):
        ctypes.memset(BUFFER if x.is_contiguous() else 0, 0, 8)
        return x.softmax(-1)

    report = checked(of_rows, only="gapped")
    assert "the candidate died of SIGSEGV, called with x float32 [5, 24] (gapped)" in str(report)


def test_the_copy_keeps_what_a_candidate_keeps():
    kept = []

    def first_answer(x):
        ctypes.memset(BUFFER, 0, 8)
        kept[:] = kept or [x.softmax(-1)]
        return kept[0]

    report = checked(first_answer, neighbours=False)
    assert report.failures
    assert not kept


def test_arguments_that_no_pickle_holds_reach_the_copy():
    def scaled(x, f):
        ctypes.memset(BUFFER, 0, 8)
        return f(x)

    def inputs(seed):
        return [torch.randn(5, 24, generator=torch.Generator().manual_seed(seed)), lambda x: x.softmax(-1)]

    assert checked(scaled, like=lambda x, f: f(x), inputs=inputs, neighbours=False).ok


def test_a_function_of_pytorch_alone_is_called_here_and_so_is_what_asks_for_it():
    for candidate, options in ((torch.tanh, {}), (of_some_rows, {"isolate": False})):
        calls = []

        def counted(x, candidate=candidate, calls=calls):
            calls.append(os.getpid())
            return candidate(x)

        like = torch.tanh if candidate is torch.tanh else softmax
        checked(counted, like=like, neighbours=False, **options)
        assert {*calls} == {os.getpid()}


@pytest.mark.parametrize("name", ["jax", "mlx.core"])
def test_where_a_copy_would_not_do_it_is_called_here_and_that_is_said(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, object())
    assert explain_no_fork("cpu") == f"{name} is loaded, whose threads do not outlive a fork"
    assert explain_no_fork("cuda") == "an accelerator's threads and memory do not outlive a fork"
    calls = []

    def counted(x):
        ctypes.memset(BUFFER, 0, 8)
        calls.append(os.getpid())
        return x.softmax(-1)

    report = checked(counted, neighbours=False)
    assert {*calls} == {os.getpid()}
    said = "where it ends its process: the candidate calls a function of C, and is called in this one, since "
    assert f"{said}{name} is loaded, whose threads do not outlive a fork" in report.not_judged


class OfC(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return of_some_rows(x)


def test_what_calls_c_triton_or_compiled_modules_is_told_by_its_code():
    library = ctypes.CDLL(None)
    assert find_native(of_some_rows) == "a function of C"
    assert find_native(lambda x: library.abs(x) + 1) == "a function of C"
    assert find_native(OfC.apply) == find_native(functools.partial(of_some_rows)) == "a function of C"
    assert find_native("c:./libmine.so:softmax") == "a function of C"
    assert find_native(softmax) == find_native(torch.nn.Linear(3, 2)) == find_native(torch.softmax) == ""
    msgspec = pytest.importorskip("msgspec")
    assert find_native(lambda x: [msgspec._core.to_builtins(x)]) == "a compiled module"


def test_a_kernel_of_triton_is_told_by_its_code():
    triton = pytest.importorskip("triton")
    kernel = triton.runtime.JITFunction(softmax)

    def launch(x):
        return kernel[(1,)](x)

    assert find_native(launch) == "Triton"


def test_what_dies_in_a_copy_gives_nothing():
    assert run_in_copy(lambda: 7, 60) == 7
    assert run_in_copy(lambda: os._exit(3), 60) is None
