"""opproof.check, bound and assert_close: what is judged beside values, by its exact verdict."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from functools import partial

import pytest
from _deep import few

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import OpError, UsageError  # noqa: E402
from opproof.harness.check.api import bound_of, evaluate_outputs, explain_difference, judge_candidate  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402
from opproof.harness.clock import Clock  # noqa: E402

F = torch.nn.functional


def reference(x, w):
    return torch.softmax(x * w, -1)


def verdicts(candidate, like=reference, inputs=((5, 17), (17,)), **wishes):
    wishes = {"neighbours": False, **wishes}
    report = check_candidate(candidate, like, list(inputs), CheckOptions(**wishes))
    return report, [str(r.verdict) for r in report.results]


def test_the_reference_is_itself():
    report, found = verdicts(lambda x, w: torch.softmax(x * w, -1))
    assert found == ["PASS", "PASS"]
    assert report.ok
    assert bool(report)


def changes_input(x, w):
    y = reference(x, w)
    x.detach().zero_()
    return y


_calls = itertools.count()


@pytest.mark.parametrize(
    ("candidate", "verdict"),
    [
        (changes_input, "INPUT_CHANGED"),
        (lambda x, w: reference(x, w) + next(_calls) * 1e-9 * torch.ones(17).cumsum(0), "NOT_REPEATABLE"),
        (lambda x, w: reference(x, w).double(), "WRONG_DTYPE"),
        (lambda x, w: reference(x, w)[:4], "WRONG_SHAPE"),
        (lambda x, w: (reference(x, w), x + 1), "WRONG_SHAPE"),
        (lambda x, w: x.view(-1).view(x.shape), "INPUT_CHANGED"),
        (lambda x, w: 1 // 0, "ERROR"),
        (lambda x, w: torch.zeros_like(x), "WRONG_VALUE"),
        (lambda x, w: reference(x, w) * 1.0001, "WRONG_VALUE"),
    ],
)
def test_faults_have_their_verdict(candidate, verdict):
    report, found = verdicts(candidate)
    assert found[0] == verdict, report
    assert not report.ok


@pytest.mark.parametrize("dtype", few(["bf16", "f16"]))
@pytest.mark.parametrize("candidate", [torch.zeros_like, torch.ones_like, lambda y: y * 1.01, lambda y: y * 0.99])
def test_nothing_trivial_passes_in_16_bits(candidate, dtype):
    report, found = verdicts(lambda x, w: candidate(reference(x.float(), w.float()).to(x.dtype)), dtype=dtype)
    assert found[0] == "WRONG_VALUE", report


def test_a_gradient_of_its_own_may_be_given():
    def forward_only(x, w):
        with torch.no_grad():
            return reference(x, w)

    def vjp(g, x, w, factor=1.0):
        y = reference(x, w)
        d = y * (g - (g * y).sum(-1, keepdim=True)) * factor
        return d * w, (d * x).sum(0)

    assert verdicts(forward_only)[1] == ["PASS", "UNSUPPORTED"]
    assert "requires grad" in verdicts(forward_only)[0].not_judged[0]
    assert verdicts(forward_only, vjp=vjp)[1] == ["PASS", "PASS"]
    assert verdicts(forward_only, vjp=lambda g, x, w: vjp(g, x, w, 1.001))[1] == ["PASS", "WRONG_GRADIENT"]
    report, found = verdicts(lambda x, w: reference(x, w.detach()))
    assert found == ["PASS", "WRONG_GRADIENT"]
    assert any("None came" in r.message for r in report.results)


def test_gradients_have_the_dtype_of_their_input():
    def vjp(g, x, w):
        y = reference(x, w)
        d = y * (g - (g * y).sum(-1, keepdim=True))
        return d * w, (d * x).sum(0).double()

    report, found = verdicts(lambda x, w: reference(x, w).detach(), vjp=vjp)
    assert found == ["PASS", "WRONG_DTYPE"]
    assert report.results[1].message == "the gradient of w has dtype float64: expected float32"


def test_an_output_that_loses_its_gradient():
    def two(x, w):
        return x * w, x + w

    report, found = verdicts(lambda x, w: (x * w, (x + w).detach()), two)
    assert found == ["PASS", "WRONG_GRADIENT"]
    assert report.results[1].message.startswith("y1 does not require grad")


def test_elements_that_share_memory():
    def rows(x, w):
        return x.sum(-1, keepdim=True) + 0 * w

    def expanded(x, w):
        return x.sum(-1, keepdim=True).expand(5, 17)

    report, found = verdicts(expanded, rows)
    assert found == ["WRONG_SHAPE"]
    assert "several elements in one place" in report.results[0].message
    assert verdicts(expanded, expanded)[1][0] == "PASS"


def test_constants_in_float32_are_named_and_promoted():
    def scaled(x, w):
        rate = torch.tensor(0.1)
        half = torch.tensor(0.5)
        hot = F.one_hot(torch.arange(5), 17) * 0.9
        return x * w * rate + hot * half + x * torch.tensor(0.3, dtype=x.dtype)

    report, found = verdicts(lambda x, w: x * w * 0.1 + F.one_hot(torch.arange(5), 17) * 0.45 + x * 0.3, scaled)
    assert found == ["PASS", "PASS"], report
    assert [line.partition(": ")[2].partition(" = ")[0] for line in report.promoted] == ["rate", "hot"]


def test_what_the_reference_updates_is_an_output():
    def step(p, g):
        p.sub_(0.1 * g)

    def kernel(p, g, rate=0.1):
        p.copy_(p - rate * g)

    inputs = [(4, 5), (4, 5)]
    assert verdicts(kernel, step, inputs)[1] == ["PASS"]
    assert verdicts(lambda p, g: kernel(p, g, 0.11), step, inputs)[1] == ["WRONG_VALUE"]
    report = verdicts(kernel, step, inputs, only="broadcast")[0]  # PyTorch writes into no broadcast tensor
    assert report.ok, report


def test_a_branch_that_is_not_taken_is_as_pytorch_has_it():
    """The root of a negative number is NaN where nobody looks; by PyTorch its gradient is NaN all the same."""

    def root(x):
        return torch.where(x > 0, x.sqrt(), 2 * x)

    x = torch.linspace(-2, 2, 12).reshape(3, 4)
    assert verdicts(root, root, [x])[1] == ["PASS", "PASS"]
    assert verdicts(lambda x: torch.where(x > 0, x.clamp_min(1e-3).sqrt(), 2 * x), root, [x])[1][0] == "PASS"
    assert verdicts(lambda x: torch.where(x > -1, x.sqrt(), 2 * x), root, [x])[1][0] == "WRONG_VALUE"


def test_dropout_is_seeded_alike():
    inputs = [(16, 16)]
    assert verdicts(lambda x: F.dropout(x, 0.5), lambda x: F.dropout(x, 0.5), inputs)[1] == ["PASS", "PASS"]
    assert verdicts(lambda x: F.dropout(x, 0.4), lambda x: F.dropout(x, 0.5), inputs)[1][0] == "WRONG_VALUE"


class Block(torch.nn.Module):
    def __init__(self, weighted=True):
        super().__init__()
        self.norm, self.weighted = torch.nn.LayerNorm(12), weighted

    def forward(self, x):
        return self.norm(x) if self.weighted else F.layer_norm(x, (12,))


def test_modules_share_parameters_that_were_moved():
    report, found = verdicts(Block(), Block(), [(4, 12)])
    assert found == ["PASS", "PASS"]
    assert verdicts(Block(weighted=False), Block(), [(4, 12)])[1][0] == "WRONG_VALUE"
    with pytest.raises(UsageError, match="no parameter 'norm.weight'"):
        verdicts(torch.nn.Identity(), Block(), [(4, 12)])
    assert report.ok


def test_a_result_that_is_zero_whatever_the_input_proves_nothing():
    report, found = verdicts(lambda x: x * 0.0, lambda x: x - x.detach(), [(4, 12)], gradients=False)
    assert found == ["VACUOUS"]
    assert not report.ok


def test_records_that_prove_nothing_are_counted():
    """The gradient of one row's logsumexp by an output saved in bf16 is 1 to 2 % off: 1.02 times it would pass too."""

    class Saved(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = torch.logsumexp(x.float(), -1).to(x.dtype)
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return (g[:, None].float() * torch.exp(x.float() - y[:, None].float())).to(x.dtype)

    report, found = verdicts(Saved.apply, lambda x: torch.logsumexp(x, -1), inputs=((1, 64),), dtype="bf16")
    assert found == ["PASS", "VACUOUS"]
    said = "1 of 2 records, the first the gradient: 1.02 times it would pass as the gradient of x too"
    assert report.no_evidence == said
    assert f"no evidence: {said}" in repr(report)
    assert json.loads(report.to_json())["no_evidence"] == said
    assert "no evidence" not in repr(verdicts(reference)[0])


def test_neighbours_are_named_and_found_out():
    def overflows(x):
        e = x.exp()
        return e / e.sum(-1, keepdim=True)

    report = check_candidate(overflows, lambda x: x.softmax(-1), [(4, 9)], CheckOptions(seconds=1e9, gradients=False))
    assert "as given" in report.tried
    assert {r.case.partition("fill=")[2].rstrip("]") for r in report.failures["WRONG_VALUE"]} == {"large", "negative"}


def test_a_budget_of_seconds_ends_the_neighbours_and_what_was_tried_is_told(monkeypatch):
    def tried(*limits):
        for seconds in limits:
            ticks = itertools.count()  # a clock that goes on by a second whenever it is looked at
            ticking = type("Ticking", (Clock,), {"spent": property(lambda _, ticks=ticks: float(next(ticks)))})
            monkeypatch.setattr("opproof.harness.check.search.Clock", ticking)
            report = opproof.check(torch.tanh, like=torch.tanh, inputs=[(4, 9)], seconds=seconds, gradients=False)
            assert {r.case for r in report.results} == set(report.variants)
            yield report.tried

    none, few, every = tried(0, 40, 1e9)
    assert none == ("as given",)
    assert few == every[: len(few)]
    assert 1 < len(few) < len(every)
    assert {"transposed", "sliced", "offset", "broadcast", "ties", "large values", "9 as 1", "4 as 0"} <= set(every)


def test_one_parameter_of_a_factory_is_the_seed():
    report = opproof.check(torch.tanh, like=torch.tanh, inputs=lambda s: [torch.randn(4 + s % 2, 9)], seconds=2)
    assert report.ok


def test_the_report_for_programs_is_short():
    report, _ = verdicts(lambda x, w: torch.zeros_like(x))
    text = report.to_json()
    found = json.loads(text)
    assert len(text) <= 4096
    assert found["causes"] == {"WRONG_VALUE": 1, "WRONG_GRADIENT": 1} or found["causes"] == {"WRONG_VALUE": 1}
    assert found["smallest"]["diagnosis"] == "y0 is zero everywhere"
    assert "zero everywhere" in repr(report)
    assert "WRONG_VALUE" in report._repr_html_()


def test_the_page_can_be_written(tmp_path):
    page = verdicts(lambda x, w: torch.zeros_like(x))[0].to_html(tmp_path / "page.html")
    assert "WRONG_VALUE" in page.read_text(encoding="utf-8")


def test_bounds_for_asserts_of_ones_own():
    x, w = torch.randn(5, 64), torch.randn(64, 3)
    bound = bound_of(torch.matmul, (x, w), None, None)
    assert bound.values.shape == bound.bound.shape == (5, 3)
    found = evaluate_outputs(torch.matmul, (x, w))
    assert explain_difference(x @ w, found) == ""
    assert "out of their bounds" in explain_difference((x @ w) * 1.0001, found)
    assert "dtype" in explain_difference((x @ w).double(), found)


def test_bounds_hold_for_what_is_honest_and_for_nothing_else():
    torch.manual_seed(0)
    x, w = torch.randn(5, 64), torch.randn(64, 3)
    found = opproof.bound(lambda x, w: (x @ w, x.softmax(-1)), x, w)
    honest = (sum(x[:, i : i + 16] @ w[i : i + 16] for i in range(0, 64, 16)), x.exp() / x.exp().sum(-1, keepdim=True))
    for y, values, bound in zip(honest, found.values, found.bound, strict=True):
        off = abs(y.double().numpy() - values)
        assert (off <= bound).all()
        assert (abs(y.double().numpy() * 1.001 - values) > bound).mean() > 0.8
    narrow, wide = (opproof.bound(torch.matmul, x, w, dtype=d).bound for d in ("bf16", "f32"))
    assert (narrow > wide).all()
    stored = opproof.bound(torch.softmax, x, -1, dtype="bf16", compute="storage").bound
    assert (stored > opproof.bound(torch.softmax, x, -1, dtype="bf16").bound).all()


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"op": None, "like": None, "inputs": None}, "needs one reference"),
        ({"op": None, "like": reference, "inputs": None}, "needs inputs"),
        ({"op": "softmax", "like": None, "inputs": [(3,)]}, "cases of its own"),
        ({"op": None, "like": 3, "inputs": [(3,)]}, "expected a function or a module"),
        ({"op": None, "like": reference, "inputs": [(3, 4), (5,)]}, "give inputs that the reference takes"),
        (
            {"op": None, "like": reference, "inputs": lambda s, n: [torch.ones(s, n)]},
            "wants 's': expected one that takes",
        ),
    ],
)
def test_wrong_calls_are_told(wrong, text):
    with pytest.raises(UsageError, match=text):
        judge_candidate(reference, **wrong, vjp=None, isolate=False)


def test_numpy_functions_are_judged_by_name():
    import numpy as np

    def tanh(x):
        return np.tanh(x)

    report = judge_candidate(tanh, "tanh", like=None, inputs=None, vjp=None, isolate=False, dtype="f32")
    assert report.ok
    assert any("autograd" in text for text in report.not_judged)


def test_importing_the_front_door_is_light():
    code = "import sys, opproof; print('numpy' in sys.modules, 'torch' in sys.modules, opproof.__all__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("False False ['__version__'")


def test_a_reference_that_reads_bits_is_refused_in_a_sentence():
    def like(x):
        return x.to(torch.bfloat16).view(torch.int16)

    with pytest.raises(OpError, match=r"reads bits as torch.int16 \(x.view\(torch.int16\)\)"):
        judge_candidate(like, None, like=like, inputs=[(5, 17)], vjp=None, isolate=False)


def test_whole_numbers_that_are_read_as_bits_of_floats():
    """Weights in 8 bits come as bytes: their bits are in float64 what they were."""

    def like(x, codes):
        return x @ codes.view(torch.float8_e4m3fn).to(x.dtype)

    def inputs(seed):
        rng = torch.Generator().manual_seed(seed)
        weights = (torch.randn(40, 12, generator=rng) * 0.05).to(torch.float8_e4m3fn)
        return [torch.randn(5, 40, generator=rng), weights.view(torch.uint8)]

    def table(codes):
        sign, power, digits = codes.int() >> 7, codes.int() >> 3 & 15, codes.int() & 7
        return (1 - 2 * sign) * torch.ldexp(1 + digits / 8, power - 7)

    def by_table(x, codes, *, subnormal=True):
        digits, small = codes.int() & 7, (codes.int() >> 3 & 15) == 0
        sign = 1 - 2 * (codes.int() >> 7)
        return x @ torch.where(small & torch.tensor(subnormal), sign * digits * 2.0**-9, table(codes))

    asked = partial(opproof.check, like=like, inputs=inputs, seconds=0.1, raises=False)
    assert asked(by_table).ok
    assert not asked(partial(by_table, subnormal=False)).ok


def test_a_sum_that_is_stored_and_read_again():
    """h in bfloat16 is an output: a norm of h may be one of h as it is stored, and its gradient too; not of less."""

    def like(x, residual):
        h = x + residual
        f = h.float()
        return (f * torch.rsqrt(f.square().mean(-1, keepdim=True) + 1e-6)).to(h.dtype), h

    class Stored(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, residual, digits):
            h = x + residual
            f = h.float()
            f = f if digits is None else (f * 2**digits).round() / 2**digits
            rate = torch.rsqrt(f.square().mean(-1, keepdim=True) + 1e-6)
            ctx.save_for_backward(f * rate, rate)
            return (f * rate).to(h.dtype), h

        @staticmethod
        def backward(ctx, dy, dh):
            y, rate = ctx.saved_tensors
            g = dy.float()
            dx = (rate * (g - y * (g * y).mean(-1, keepdim=True)) + dh.float()).to(dy.dtype)
            return dx, dx, None

    asked = partial(
        opproof.check, like=like, inputs=[(6, 64), (6, 64)], dtype="bf16", seconds=0.1, raises=False, only="as given"
    )
    assert asked(lambda x, residual: Stored.apply(x, residual, None)).ok
    assert not asked(lambda x, residual: Stored.apply(x, residual, 4)).ok


def test_inputs_by_name():
    """Arguments that are taken by name alone are given so, by a factory or a dict."""

    def reference(x, weight, *, eps=1e-6, plus=False):
        y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
        return y * (1 + weight if plus else weight)

    def inputs(seed):
        g = torch.Generator().manual_seed(seed)
        return {"x": torch.randn(6, 32, generator=g), "weight": torch.randn(32, generator=g), "plus": True}

    def kernel(x, weight, *, eps=1e-6, plus=False):
        assert plus
        return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * (1 + weight)

    report = opproof.check(kernel, like=reference, inputs=inputs, seconds=1)
    assert report.ok
    assert report.results[0].case == "reference[x=6x32;weight=32,;f32]"
    assert not opproof.check(
        lambda **given: kernel(**given) * 1.01, like=reference, inputs=inputs(0), seconds=1, raises=False
    ).ok
    with pytest.raises(UsageError, match="a dict of arguments by name"):
        opproof.check(kernel, like=reference, inputs={}, seconds=1)
