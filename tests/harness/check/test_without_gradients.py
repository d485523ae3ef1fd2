"""What a kernel does where no gradient is asked for, as in inference: another path, results in memory used again."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.call.other_calls import HELD_CALLS  # noqa: E402
from opproof.harness.check.judge import final_pass  # noqa: E402

judged = partial(opproof.check, like=lambda x: torch.tanh(x) * 2, inputs=[(5, 24)], seconds=0.1, raises=False)


def failed(report):
    return {(r.verdict, r.mode) for rs in report.failures.values() for r in rs}


@pytest.mark.parametrize("rooms", [1, 2, HELD_CALLS - 1])
def test_results_in_a_ring_of_buffers(monkeypatch, rooms):
    monkeypatch.setattr(final_pass, "_MIN_CALLS", 16)  # as many calls on a busy machine
    ring, calls = {}, []

    def kernel(x):
        y = torch.tanh(x) * 2
        if y.requires_grad:
            return y
        calls.append(None)
        return ring.setdefault((len(calls) % rooms, y.shape), torch.empty_like(y)).copy_(y)

    report = judged(kernel)
    assert failed(report) == {("NOT_REPEATABLE", "forward")}
    assert "y0 of a call before was overwritten" in str(report)
    assert "where no gradient is asked for (torch.no_grad)" in str(report)
    assert judged(kernel, reuses_outputs=True).ok


def test_a_path_of_its_own_that_is_wrong():
    report = judged(lambda x: torch.tanh(x) * (2 if x.requires_grad else 2.1))
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert "where no gradient is asked for" in str(report)


def test_a_path_of_its_own_that_is_right():
    assert judged(lambda x: torch.tanh(x) * 2 if x.requires_grad else 2 * torch.tanh(x.clone())).ok


def test_one_that_raises_there():
    def kernel(x):
        assert x.requires_grad
        return torch.tanh(x) * 2

    assert failed(judged(kernel)) == {("ERROR", "forward")}


def test_a_function_of_numpy_has_values_and_no_gradient():
    report = judged(lambda x: torch.from_numpy(np.tanh(x.numpy()) * 2))
    assert not report.failures
    assert {r.verdict for r in report.results if r.mode == "forward"} == {"PASS"}
    assert "it is a function of NumPy" in str(report)
    wrong = judged(lambda x: torch.from_numpy(np.tanh(x.numpy()) * 2.1))
    assert failed(wrong) == {("WRONG_VALUE", "forward")}


def test_a_function_of_numpy_with_a_vjp_of_its_own_is_asked_in_all_ways():
    """No tensor that it is given requires a gradient, beside other threads neither: no array could be made of it."""

    def vjp(g, x):
        return torch.from_numpy(2 * g.numpy() * (1 - np.tanh(x.numpy()) ** 2))

    report = judged(lambda x: torch.from_numpy(np.tanh(x.numpy()) * 2), vjp=vjp, only="as given")
    assert report.ok
    assert {(r.mode, r.verdict) for r in report.results} == {("forward", "PASS"), ("gradient", "PASS")}


def test_an_input_that_is_written_there_alone():
    def kernel(x):
        y = torch.tanh(x) * 2
        return y if x.requires_grad else (x.copy_(y), y)[1]

    report = judged(kernel)
    assert failed(report) == {("INPUT_CHANGED", "forward")}
    assert "where no gradient is asked for: x was modified, which the reference leaves as it is" in str(report)
