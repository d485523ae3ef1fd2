"""What is right as it is called usually, and wrong on another thread, in inference mode, for parts of a cotangent."""

import ctypes
import ctypes.util
import math
import platform
import threading
from dataclasses import replace
from functools import partial

import pytest
from _deep import few

torch = pytest.importorskip("torch")

from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import opproof  # noqa: E402
from opproof.harness.check.call.exchange import Setting  # noqa: E402
from opproof.harness.check.call.isolated import load_pair  # noqa: E402
from opproof.harness.check.call.other_calls import EARLIER  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402


def reference(x):
    return torch.tanh(x) * 2


def relu(x):
    return torch.relu(x)


judged = partial(opproof.check, like=reference, inputs=[(5, 24)], seconds=0.1, raises=False)


def failed(report):
    return {(r.verdict, r.mode) for rs in report.failures.values() for r in rs}


class Doubled(torch.autograd.Function):
    """The reference, with a backward that says what comes in."""

    @staticmethod
    def forward(ctx, x, backward):
        ctx.save_for_backward(x)
        ctx.backward = backward
        return torch.tanh(x) * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ctx.backward(g, 2 * g * (1 - torch.tanh(x) ** 2), x), None


@pytest.mark.parametrize(
    ("where", "is_wrong"),
    [
        ("on another thread", lambda x: threading.current_thread() is not threading.main_thread()),
        ("under torch.inference_mode()", lambda x: torch.is_inference_mode_enabled()),
        ("with 2 threads", lambda x: torch.get_num_threads() == 2),
        ("with 5 threads", lambda x: torch.get_num_threads() == 5),
        ("where autograd is on", lambda x: torch.is_grad_enabled() and not x.requires_grad),
    ],
)
def test_a_setting_in_which_it_is_wrong(where, is_wrong):
    report = judged(lambda x: reference(x) * (1.1 if is_wrong(x) else 1))
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert where in str(report)


def test_small_tensors_are_asked_with_one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        counts = []
        judged(lambda x: counts.append(torch.get_num_threads()) or reference(x))
        assert {1, 2, 5} <= set(counts)
        assert counts.count(1) > len(counts) / 2
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_a_setting_that_the_reference_does_not_bear_says_nothing():
    def like(x):
        assert threading.current_thread() is threading.main_thread()
        return x * 2

    def kernel(x):
        return x * (2 if threading.current_thread() is threading.main_thread() else 3)

    assert judged(kernel, like=like).ok


@pytest.mark.parametrize(
    ("said", "leave"),
    [
        ("torch.get_num_threads()", lambda: torch.set_num_threads(torch.get_num_threads() + 1)),
        ("torch.get_default_dtype()", lambda: torch.set_default_dtype(torch.float64)),
        ("torch.set_flush_denormal", lambda: torch.set_flush_denormal(True)),
        ("torch.is_grad_enabled()", lambda: torch.set_grad_enabled(False)),
        ("torch.initial_seed()", lambda: torch.manual_seed(0)),
        pytest.param(
            "fegetround()",
            lambda: ctypes.CDLL(ctypes.util.find_library("m")).fesetround(0xC00),
            marks=pytest.mark.skipif(platform.machine() != "x86_64", reason="0xC00 is towards 0 there"),
        ),
    ],
)
def test_a_setting_that_is_left_as_it_was_not(said, leave):
    def kernel(x):
        y = reference(x)
        leave()
        return y

    before = torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled()
    report = judged(kernel)
    assert failed(report) == {("INPUT_CHANGED", "forward")}
    assert f"{said} was" in str(report)
    assert (torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled()) == before
    assert judged(reference).ok


def test_one_that_the_reference_leaves_so_too():
    def like(x):
        torch.manual_seed(0)
        return x * 2

    assert judged(like, like=like).ok


def test_a_gradient_that_is_also_added_to_the_tensor():
    def backward(g, d, x):
        x.grad = d.clone()
        return d

    report = judged(lambda x: Doubled.apply(x, backward))
    assert failed(report) == {("INPUT_CHANGED", "forward")}
    assert "x.grad was written beside the gradient" in str(report)


def test_a_gradient_that_is_added_where_there_is_one_already():
    def backward(g, d, x):
        if x.grad is not None:
            x.grad += d
        return d

    report = judged(lambda x: Doubled.apply(x, backward))
    assert failed(report) == {("INPUT_CHANGED", "forward")}
    assert "x.grad was written beside the gradient" in str(report)


@pytest.mark.parametrize("kind", [TorchDispatchMode, TorchFunctionMode])
def test_a_mode_that_is_left_on_may_answer_later(kind):
    def kernel(x):
        y = torch.zeros_like(x)

        class Filling(kind):
            def _filled(self, func, types, args=(), kwargs=None):
                self.__exit__(None, None, None)  # nobody sees it afterwards
                y.copy_(reference(x.detach()))
                return func(*args, **(kwargs or {}))

            __torch_dispatch__ = __torch_function__ = _filled

        Filling().__enter__()
        return y

    report = judged(kernel, gradients=False)
    assert ("INPUT_CHANGED", "forward") in failed(report)
    assert "Filling, a mode, was left on" in str(report)


def test_a_mode_that_is_on_during_the_call_alone_is_no_matter():
    class Passing(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    def kernel(x):
        with Passing():
            return reference(x)

    assert judged(kernel).ok


def test_a_tensor_that_gets_other_memory():
    def kernel(x):
        x.data = x.data.clone()
        return reference(x)

    report = judged(kernel)
    assert failed(report) == {("INPUT_CHANGED", "forward")}
    assert "x was given other memory, shape or strides" in str(report)


@pytest.mark.parametrize(
    ("where", "backward"),
    [
        ("the cotangent of most rows is 0", lambda g, d, x: torch.where((g == 0).all(-1, keepdim=True), 7.0, d)),
        ("the cotangent is 1 everywhere", lambda g, d, x: d / 2 if (g == 1).all() else d),
    ],
)
def test_a_part_of_a_cotangent_for_which_a_backward_is_wrong(where, backward):
    report = judged(lambda x: Doubled.apply(x, backward))
    assert failed(report) == {("WRONG_GRADIENT", "gradient")}
    assert where in str(report)
    assert judged(lambda x: Doubled.apply(x, lambda g, d, x: d)).ok


def test_answers_kept_by_what_a_tensor_begins_with():
    kept = {}

    def kernel(x, w):
        key = (w.data_ptr(), w.shape, *w.detach().reshape(-1)[:8].tolist())
        packed = kept.setdefault(key, w.detach().clone())
        return x @ (w if w.requires_grad else packed)

    report = judged(kernel, like=lambda x, w: x @ w, inputs=[(5, 24), (24, 7)])
    assert failed(report) == {("NOT_REPEATABLE", "forward")}
    assert "only the last number of w is another" in str(report)
    assert judged(torch.matmul, like=lambda x, w: x @ w, inputs=[(5, 24), (24, 7)]).ok


def test_one_tensor_given_twice():
    def like(a, b):
        return a + b

    twice = partial(judged, like=like, inputs=[(5, 24), (5, 24)], seconds=3)
    report = twice(lambda a, b: a + b if a is not b else a.clone())
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert "lambda, one tensor for a and b" in str(report)
    assert twice(like).ok


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("NaN in x", lambda x: torch.where(x > 0, x, 0.0)),
        ("infinity in x", lambda x: torch.clamp(x, 0, 1e30)),
    ],
)
def test_numbers_that_do_not_come_through_are_told(name, kernel):
    report = judged(kernel, like=relu, seconds=1)
    assert report.ok
    assert any(text.startswith(f"{name}: y0[2, 12] is") for text in report.advisories)
    assert name not in str(judged(torch.relu, like=torch.relu, seconds=1).advisories)


def test_advisories_are_said_where_they_are_asked_for():
    kernel = partial(judged, lambda x: torch.where(x > 0, x, 0.0), like=relu, seconds=1)
    quiet, advised = kernel(), kernel(advise=True)
    said = "NaN in x: y0[2, 12] is 0, the reference's nan: 1 elements so"
    assert quiet.advisories == advised.advisories == (said,)
    assert f"advisory: {said}" in str(advised)
    assert said not in str(quiet)
    assert said in advised.to_json()
    assert "advisories" not in quiet.to_json()


def product(a, b, parts):
    return sum(a[:, i::parts] @ b[i::parts] for i in range(parts))


def test_rows_that_depend_on_the_batch_are_told():
    """Where there are few rows the sum is taken apart, as libraries do that fill a processor so."""
    given = {"like": torch.matmul, "inputs": [(6, 512), (512, 24)], "seconds": 1}
    report = judged(lambda a, b: product(a, b, 8 if a.shape[0] < 4 else 1), **given)
    assert report.ok
    said = "row 3 of 6 alone: other bits than among all: what a row gives depends on the batch"
    assert said in report.advisories
    by_row = judged(lambda a, b: torch.stack([row @ b for row in a]), **given)
    assert by_row.ok
    assert said not in by_row.advisories


def test_a_tile_of_minus_infinity_that_gives_nan_is_told():
    def like(x):
        return torch.softmax(x, -1)

    def kernel(x):
        top, total = torch.full_like(x[:, :1], -math.inf), torch.zeros_like(x[:, :1])
        for part in x.split(8, -1):
            new = torch.maximum(top, part.amax(-1, keepdim=True))
            total = total * torch.exp(top - new) + torch.exp(part - new).sum(-1, keepdim=True)
            top = new
        return torch.exp(x - top) / total

    name = "minus infinity in the first half of rows of x"
    report = judged(kernel, like=like, seconds=3, gradients=False)
    assert report.ok
    assert any(text.startswith(f"{name}: y0[0, 0] is nan") for text in report.advisories)
    assert not judged(lambda x: torch.softmax(x, -1) * 1, like=like, seconds=3).advisories


@pytest.mark.parametrize(
    ("table", "number", "said"), few([("i & 127", 100, "255 in i"), ("i.half()", 300, "5000 more in i")])
)
def test_whole_numbers_past_those_that_are_drawn_are_told(tmp_path, table, number, said):
    kind = "torch.int64" if number > 255 else "torch.uint8"
    text = f"""
import torch
def reference(x, i):
    return x * torch.cos(i.to(torch.float64) * 0.01).to(x.dtype)
def inputs(seed, dtype):
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(6, generator=g).to(dtype), torch.randint(0, {number}, (6,), generator=g).to({kind})]
def candidate(x, i):
    return x * torch.cos(({table}).to(torch.float64) * 0.01).to(x.dtype)
"""
    (tmp_path / "both.py").write_text(text)
    both = load_pair(tmp_path / "both.py", tmp_path / "both.py", 0)
    report = check_candidate(both.candidate, both.reference, both.inputs, CheckOptions(seconds=0.5))
    assert not report.failures
    assert any(text.startswith(f"{said}: the candidate gives something else") for text in report.advisories)
    right = load_pair(tmp_path / "both.py", tmp_path / "both.py", 0)
    same = check_candidate(
        replace(right.candidate, label="reference"), right.reference, right.inputs, CheckOptions(seconds=0.5)
    )
    assert said not in str(same.advisories)


def test_an_input_that_comes_back_without_gradients():
    report = judged(lambda x: x if not x.requires_grad else x * 1, like=lambda x: x * 1)
    assert failed(report) == {("INPUT_CHANGED", "forward")}
    assert "y0 is part of the memory of x" in str(report)
    assert not judged(lambda x: x, like=lambda x: x).failures


def test_a_candidate_that_changes_what_the_reference_uses(monkeypatch):
    monkeypatch.setattr(torch, "celu", torch.celu)
    usual = torch.celu

    def kernel(x):
        torch.celu = lambda x: 2 * usual(x)
        return 2 * usual(x)

    report = judged(kernel, like=lambda x: torch.celu(x) * 1)
    assert ("INPUT_CHANGED", "forward") in failed(report)
    assert "the reference gives other answers than before the candidate was first called" in str(report)


def test_a_kernel_that_is_slow_is_not_asked_in_all_ways(monkeypatch):
    monkeypatch.setattr("opproof.harness.check.judge.final_pass._MIN_FEW_CALLS_SECONDS", 0.0)
    monkeypatch.setattr("opproof.harness.check.judge.final_pass._QUESTION_TIME_SHARE", 0.0)
    report = judged(lambda x: reference(x) * (1 if threading.current_thread() is threading.main_thread() else 2))
    assert report.ok
    assert "other ways of calling" in str(report)


def test_a_gradient_that_is_wrong_where_all_but_one_are_asked_for():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, c):
            ctx.save_for_backward(a, b, c)
            return a * b * c

        @staticmethod
        def backward(ctx, g):
            a, b, c = ctx.saved_tensors
            skipped = not ctx.needs_input_grad[1] and ctx.needs_input_grad[0]
            return g * b * c, g * a * c, g * a * b * (0.5 if skipped else 1)

    def like(a, b, c):
        return a * b * c

    report = judged(Product.apply, like=like, inputs=[(5, 24)] * 3)
    assert failed(report) == {("WRONG_GRADIENT", "gradient")}
    assert "where all gradients but that of b are asked for" in str(report)


def test_a_gradient_that_is_wrong_for_two_of_four():
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            return sum(tensors)

        @staticmethod
        def backward(ctx, g):
            frozen = ctx.needs_input_grad == (True, False, False, True)
            return g * (2 if frozen else 1), g, g, g * 1

    report = judged(Sum.apply, like=lambda a, b, c, d: a + b + c + d, inputs=[(5, 24)] * 4)
    assert failed(report) == {("WRONG_GRADIENT", "gradient")}
    assert "where the gradients of a and d alone are asked for" in str(report)


def test_gradients_in_a_buffer_of_their_own():
    room = {}

    def backward(g, d, x):
        return room.setdefault(d.shape, torch.empty_like(d)).copy_(d)

    report = judged(lambda x: Doubled.apply(x, backward))
    assert failed(report) == {("NOT_REPEATABLE", "forward")}
    assert "the gradient of x of a call before was overwritten" in str(report)


def test_a_weight_kept_by_its_version_where_a_scale_changes():
    kept = {}

    def kernel(x, w, scale):
        if torch.is_grad_enabled():
            return x @ (w * scale)
        return x @ kept.setdefault((w.data_ptr(), w._version), w * scale)

    def like(x, w, scale):
        return x @ (w * scale)

    inputs = [(5, 24), (24, 7), (7,)]
    report = judged(kernel, like=like, inputs=inputs)
    ((verdict, mode),) = failed(report)
    if verdict == "WRONG_VALUE":  # memory of an earlier weight was that of this one
        return
    assert (verdict, mode) == ("NOT_REPEATABLE", "forward")
    assert "only the last number of" in str(report)
    assert "something was kept that does not hold all that it depends on" in str(report)


def test_rows_that_are_one_in_memory_have_nothing_behind_them():
    def packed(x):
        rows = x.as_strided(x.shape, (x.shape[-1], 1)) if 0 in x.stride() and not x.requires_grad else x
        return torch.tanh(rows) * 2

    assert failed(judged(packed, only="broadcast")) == {("WRONG_VALUE", "forward")}
    assert judged(reference, only="broadcast").ok


def test_a_last_number_that_is_dropped_changes_nothing():
    """In 16 bits the reference's own answer is off by more than its truth allows, whatever the last number is."""
    keep = (torch.arange(198) % 3 != 2).reshape(9, 22)  # the last one is dropped

    def like(x, residual):
        return residual + torch.where(keep, x, torch.zeros_like(x)) / 0.7

    def kernel(x, residual):
        return torch.addcmul(residual.float(), x.float(), keep.float(), value=1 / 0.7).to(x.dtype)

    assert judged(kernel, like=like, inputs=[(9, 22), (9, 22)], dtype="f16", only="as given").ok


def test_what_is_kept_by_an_address_that_is_given_again():
    packed = {}

    def kernel(x, w):
        key = w.data_ptr(), w.shape
        if key not in packed or packed[key][0] != w._version:
            packed[key] = w._version, w.detach().clone()
        return x @ (w if w.requires_grad else packed[key][1])

    report = judged(kernel, like=lambda x, w: x @ w, inputs=[(5, 24), (24, 7)])
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert Setting.RENEWED in str(report)

    def holding(x, w):
        key = w.data_ptr(), w._version
        if key not in packed:
            packed[key] = w.detach(), w.detach().clone()
        return x @ (w if w.requires_grad else packed[key][1])

    packed.clear()
    assert judged(holding, like=lambda x, w: x @ w, inputs=[(5, 24), (24, 7)]).ok, "it has that memory to itself"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.complex64, torch.bool])
def test_another_tensor_at_an_address_is_as_new_and_the_first_is_as_it_was(dtype):
    x = torch.arange(6).to(dtype)
    x[0] = 1
    own, seen = x.clone(), []
    EARLIER[Setting.RENEWED](torch, lambda some: seen.append((some[0].data_ptr(), some[0]._version)), [x])
    assert seen == [(x.data_ptr(), x._version)]
    assert torch.equal(x, own)
