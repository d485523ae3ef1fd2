"""Memory beside tensors: what is written there is out of bounds, what is read is NaN or ends the process."""

import ctypes
from functools import partial

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.__main__ import cli  # noqa: E402
from opproof.harness.check.call.exchange import CallRequest  # noqa: E402
from opproof.harness.check.call.guard_regions import Fence, Fences  # noqa: E402
from opproof.harness.check.call.perform import perform  # noqa: E402
from opproof.harness.check.variants.inputs import take_inputs  # noqa: E402

FOUR = 4


def reference(x):
    return torch.tanh(x) * 2


judged = partial(opproof.check, like=reference, inputs=[(5, 24)], seconds=0.1, raises=False)


def failed(report):
    return {(r.verdict, r.mode) for rs in report.failures.values() for r in rs}


def _written(x, at):
    """The reference, and a write of four bytes at an offset from the end of x (or its beginning, where below 0)."""
    place = x.data_ptr() + (at if at < 0 else FOUR * x.numel() + at)
    ctypes.memset(place, 0, FOUR)


@pytest.mark.parametrize(("at", "where"), [(0, "past the end of x"), (-FOUR, "before x")])
def test_a_write_beside_an_input(at, where):
    def kernel(x):
        if x.is_contiguous() and not x.untyped_storage().resizable():  # fenced memory alone is safe to write beside
            _written(x.detach(), at)
        return reference(x)

    report = judged(kernel)
    assert failed(report) == {("OUT_OF_BOUNDS", "forward")}
    assert f"4 bytes {where} were written" in str(report)


def test_a_write_past_a_tensor_that_it_makes():
    def kernel(x):
        y = torch.empty_like(x.detach())
        if not y.untyped_storage().resizable():
            _written(y, 0)
        return y.copy_(reference(x)) if not x.requires_grad else reference(x)

    report = judged(kernel)
    assert failed(report) == {("OUT_OF_BOUNDS", "forward")}
    assert "4 bytes past the end of a tensor (5, 24) that aten::empty_like made were written" in str(report)


def test_memory_that_nobody_wrote_is_nan():
    def kernel(x):
        y = reference(x)
        return y + torch.empty(24).nan_to_num(nan=1.0) * 0 if x.requires_grad else y + _zeros_or_nan()

    def _zeros_or_nan():
        room = torch.empty(24)
        return room * 0 if not room.untyped_storage().resizable() else torch.zeros(24)

    report = judged(kernel)
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert "where memory that it has not written, and what lies beside its tensors, is NaN" in str(report)


@pytest.mark.parametrize("layout", ["gapped", "sliced", "offset"])
def test_a_write_into_the_larger_tensor_that_an_input_is_part_of(layout):
    def kernel(x):
        storage = x.untyped_storage()
        if storage.nbytes() > FOUR * x.numel():
            at = 0 if layout == "offset" else FOUR * (x.stride(-2) - 1)
            ctypes.memset(storage.data_ptr() + at, 0, FOUR)
        return reference(x)

    report = judged(kernel, only=layout)
    assert failed(report) == {("INPUT_CHANGED", "forward")}
    assert "x is part of a larger tensor" in str(report)
    assert judged(reference, only=layout).ok


CANDIDATE = """
import ctypes, torch

def candidate(x):
    if x.is_contiguous():
        ctypes.string_at(x.data_ptr() + {at}, 4)
    return torch.tanh(x) * 2
"""
REFERENCE = """
import torch

def reference(x):
    return torch.tanh(x) * 2

def inputs(seed):
    return [torch.randn(5, 24, generator=torch.Generator().manual_seed(seed))]
"""


@pytest.mark.parametrize(("at", "where"), [("4 * x.numel() + 64", "past the end of"), ("-4", "before")])
def test_a_read_beside_an_input_ends_its_process(tmp_path, at, where):
    (tmp_path / "reference.py").write_text(REFERENCE)
    (tmp_path / "candidate.py").write_text(CANDIDATE.format(at=at))
    files = [str(tmp_path / name) for name in ("reference.py", "candidate.py")]
    done = CliRunner().invoke(cli, ["check", *files, "--accept-partial", "--seconds", "1"], standalone_mode=False)
    assert done.return_value == 1
    assert f"the process died of SIGSEGV where memory {where} each tensor may not be touched" in done.output
    assert "OUT_OF_BOUNDS" in done.output


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int64", "int32", "bool", "complex64"])
@pytest.mark.parametrize("fence", [f for f in Fence if f])
def test_a_fenced_tensor_is_what_it_was(fence, dtype):
    x = (torch.arange(60) % 7).to(getattr(torch, dtype)).reshape(5, 12).t()
    fences = Fences(fence)
    y = fences.around(torch, x, "x")
    assert y.data_ptr() != x.data_ptr()
    assert torch.equal(x, y)
    assert y.stride() == x.stride()
    assert not fences.describe_trespass()
    y.fill_(1)
    assert not fences.describe_trespass()


def test_all_that_pytorch_makes_is_right_between_fences():
    _, tensors, _ = take_inputs([(6, 33), (33, 5)], ["x", "w"], None, 0)

    def call(some):
        x, w = some
        h = torch.nn.functional.layer_norm(x, (33,)).split([16, 17], -1)
        return (
            torch.cat(h, -1) @ w,
            torch.sort(x, -1).values,
            x.topk(3).values,
            torch.zeros(3, 4).index_add(0, torch.tensor([0, 2]), torch.ones(2, 4)),
        )

    usual = perform(call, CallRequest(tensors))
    for fence in (f for f in Fence if f):
        reply = perform(call, CallRequest(tensors, fence=fence))
        assert not reply.error
        assert reply.harm is None
        assert all((a.values == b.values).all() for a, b in zip(reply.outputs, usual.outputs, strict=True))


def test_a_tensor_that_is_updated_in_place_is_fenced_too():
    def append(cache, new):
        cache[:, 3:5] = new

    def past_the_end(cache, new):
        append(cache, new)
        if not cache.untyped_storage().resizable():
            _written(cache, 0)

    inputs = [(4, 8), (4, 2)]
    report = judged(past_the_end, like=append, inputs=inputs)
    assert failed(report) == {("OUT_OF_BOUNDS", "forward")}
    assert "4 bytes past the end of cache were written" in str(report)
    assert judged(append, like=append, inputs=inputs).ok
