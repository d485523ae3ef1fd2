"""What a kernel declares: in place, overwritten, one backward, sizes, precision by result; right ones and wrong."""

from functools import partial

import pytest
from click import BadParameter
from click.testing import CliRunner

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402
from opproof.harness.__main__ import cli  # noqa: E402

judged = partial(opproof.check, raises=False, dtype="f32", seconds=0.5)
INPUTS = [(6, 32), (6, 32)]
GIVEN = partial(judged, inputs=INPUTS, neighbours=False)


def like(x, w):
    return torch.tanh(x * w)


def found(report):
    return {(str(r.verdict), str(r.mode)) for rs in report.failures.values() for r in rs}


def in_place(x, w):
    return x.mul_(w).tanh_()


class Fused(torch.autograd.Function):
    """Writes y to x, and the gradients to y's memory and to the gradient that comes in; `factor`: what is wrong."""

    @staticmethod
    def forward(ctx, x, w, factor):
        ctx.factor = factor
        d = x.clone()
        x.copy_(torch.tanh(x * w))
        ctx.mark_dirty(x)
        ctx.save_for_backward(d, w, x)
        return x

    @staticmethod
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        d = g * (1 - y * y) * ctx.factor
        return d * w, d * x, None


def returns_nothing(x, w):
    x.mul_(w).tanh_()


def in_memory_of_its_own(x, w):
    y = like(x.clone(), w)
    x.data.copy_(y)
    return y


@pytest.mark.parametrize("right", [in_place, returns_nothing, lambda x, w: Fused.apply(x, w, 1.0)])
def test_what_works_in_place(right):
    report = judged(right, like=like, inputs=INPUTS, inplace=("x",), seconds=2)
    assert report.ok, report
    assert report.contract == ("inplace=('x',)",)
    assert "sliced" in report.tried
    assert "broadcast" in report.tried


def test_all_that_is_tried_of_what_works_in_place():
    """Threads, fences, inference: in each the copies are those of the call."""
    report = judged(in_place, like=like, inputs=INPUTS, inplace=("x",), seconds=5)
    assert report.ok, report


def wrong_values(x, w):
    y = like(x, w)
    x.data.copy_(y * 0.5)
    return y


def stale_result(x, w):
    y = like(x, w)
    x.data.copy_(y)
    return y * 0.5


def second_changed(x, w):
    y = in_place(x, w)
    w.data.zero_()
    return y


def transposed(x, w):
    """Of squares: the result is right, and lies across in the argument."""
    y = like(x, w).mT
    x.data.copy_(y)
    return x.mT


def test_a_result_that_lies_across_in_its_argument():
    report = judged(transposed, like=like, inputs=[(8, 8), (8, 8)], neighbours=False, gradients=False, inplace=("x",))
    assert found(report) == {("WRONG_VALUE", "forward")}
    assert "x holds other values than y0 that is returned" in str(report)


def beside(x, w):
    y = in_place(x, w)
    y.detach().as_strided((y.untyped_storage().nbytes() // 4,), (1,), 0)[-1] = 0.25
    return y


@pytest.mark.parametrize(
    ("wrong", "verdict", "said"),
    [
        (wrong_values, ("WRONG_VALUE", "forward"), "x holds other values than y0 that is returned"),
        (wrong_values, ("WRONG_VALUE", "forward"), "what is returned is right"),
        (stale_result, ("WRONG_VALUE", "forward"), "x holds other values than y0 that is returned"),
        (like, ("NOT_WRITTEN", "forward"), "x holds what it was given"),
        (second_changed, ("INPUT_CHANGED", "forward"), "w was modified"),
        (lambda x, w: Fused.apply(x, w, 1.1), ("WRONG_GRADIENT", "gradient"), "units of 16"),
        (lambda x, w: in_place(x, w).mul_(1.01), ("WRONG_VALUE", "forward"), "units of 16"),
    ],
)
def test_what_is_wrong_in_place(wrong, verdict, said):
    report = GIVEN(wrong, like=like, inplace=("x",))
    assert verdict in found(report)
    assert said in str(report)


def test_memory_between_the_rows_of_what_is_written():
    report = judged(beside, like=like, inputs=INPUTS, inplace=("x",), only="sliced")
    assert found(report) == {("INPUT_CHANGED", "forward")}
    assert "memory between the rows of x" in str(report)


def test_a_result_in_other_memory_is_told():
    report = GIVEN(in_memory_of_its_own, like=like, inplace=("x",))
    assert report.ok, report
    assert report.contract == ("inplace=('x',)", "y0 comes in memory of its own, and x holds the same")
    assert '"contract": ["inplace=' in report.to_json()


def test_a_kernel_of_which_autograd_knows_nothing_has_no_gradient():
    def raw(x, w):
        x.data.copy_(torch.tanh(x.data * w.data))
        return x

    report = GIVEN(raw, like=like, inplace=("x",))
    assert report.ok, report
    assert any("cannot see through the candidate" in text for text in report.not_judged)


def test_two_results_in_two_arguments():
    def both(x, w):
        return x + w, x - w

    def right(x, w):
        y = x - w
        x.add_(w)
        w.copy_(y)

    def swapped(x, w):
        y = x + w
        x.sub_(w)
        w.copy_(y)

    assert GIVEN(right, like=both, inplace=("x", "w")).ok
    assert GIVEN(swapped, like=both, inplace=("w", "x")).ok
    assert ("WRONG_VALUE", "forward") in found(GIVEN(swapped, like=both, inplace=("x", "w")))


class Overwrites(torch.autograd.Function):
    """As Liger's swiglu: gradients are written to what was saved, and to the gradient that came in."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return like(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        g = g.contiguous()
        g.data.mul_(1 - like(x, w) ** 2)
        d = g * w
        w.data.copy_(g * x)
        x.data.copy_(d)
        return x, w


ALL = {"overwrites": ("x", "w", "grad"), "backwards": 1}


def test_what_is_overwritten():
    report = judged(Overwrites.apply, like=like, inputs=INPUTS, **ALL)
    assert report.ok, report
    assert any("second backward" in text for text in report.contract)


@pytest.mark.parametrize(
    ("left", "verdict", "said"),
    [
        ({"overwrites": ("x", "grad")}, ("INPUT_CHANGED", "forward"), "say overwrites=('w',)"),
        ({"overwrites": ("x", "w")}, ("INPUT_CHANGED", "gradient"), "say overwrites=('grad',)"),
        ({"backwards": None}, ("WRONG_GRADIENT", "gradient"), "say backwards=1"),
    ],
)
def test_what_is_not_declared_is_as_strict_as_ever(left, verdict, said):
    report = GIVEN(Overwrites.apply, like=like, **{**ALL, **left})
    assert found(report) == {verdict}
    assert said in str(report)


def test_an_argument_that_is_called_grad():
    def step(p, grad):
        return p - 0.1 * grad

    def kernel(p, grad):
        y = p - grad.mul_(0.1)
        p.copy_(y)

    check = partial(GIVEN, kernel, like=step, gradients=False)
    assert check(inplace=("p",), overwrites=("grad",)).ok
    assert found(check(inplace=("p",))) == {("INPUT_CHANGED", "forward")}


def test_a_first_backward_that_is_wrong():
    class Wrong(Overwrites):
        @staticmethod
        def backward(ctx, g):
            x, w = Overwrites.backward(ctx, g)
            return x * 1.01, w

    assert found(GIVEN(Wrong.apply, like=like, **ALL)) == {("WRONG_GRADIENT", "gradient")}


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (
            in_memory_of_its_own,
            "x is overwritten by y0's values: if that is the contract, say inplace=('x',)",
        ),
        (in_place, "say so by its name, as inplace=('x',)"),
        (lambda x, w: (like(x, w), x.data.zero_())[0], "say overwrites=('x',)"),
    ],
)
def test_what_is_seen_is_proposed(candidate, said):
    report = GIVEN(candidate, like=like)
    assert said in str(report).split("\n\n")[1].split("\n")[1]


def tanh(x):
    return torch.tanh(x)


def of_whole_blocks(x):
    """Right where rows are whole blocks of 32, and else silently wrong."""
    y = torch.zeros_like(x)
    n = x.shape[-1] // 32 * 32
    y[..., :n] = torch.tanh(x[..., :n])
    return y


@pytest.mark.parametrize("inputs", [[(6, 64)], lambda seed: [torch.randn(6, 64)]])
@pytest.mark.parametrize(
    "declared",
    [{"multiple_of": {"x.-1": 32}}, {"multiple_of": {"h": 32}, "signature": "(b,h)"}, {"sizes": {"x.1": (64, 96)}}],
)
def test_sizes_that_are_refused_are_not_asked(inputs, declared):
    report = judged(of_whole_blocks, like=tanh, inputs=inputs, seconds=2, **declared)
    assert report.ok, report
    assert "64 as 96" in report.tried
    assert "6 as 7" in report.tried
    assert not any("64 as 65" in text for text in (*report.tried, *report.not_judged))
    assert not judged(of_whole_blocks, like=tanh, inputs=inputs, seconds=2).ok


def test_a_size_that_is_declared_and_wrong():
    def of_64(x):
        return torch.tanh(x) * (1 if x.shape[-1] == 64 else 1.1)

    report = judged(of_64, like=tanh, inputs=[(6, 64)], sizes={"x.-1": (64, 96)})
    assert found(report) >= {("WRONG_VALUE", "forward")}
    assert report.variants[report.worst.case] == "64 as 96"


def test_a_precision_of_one_result():
    def both(x, w):
        h = x
        for _ in range(5):
            h = torch.tanh(h * w) + x
        return h, h.sum(-1)

    def stored(x, w):
        h = x = x.float()
        for _ in range(5):
            h = torch.tanh((h * w).bfloat16().float()).bfloat16().float() + x
        return h.bfloat16(), h.sum(-1).bfloat16()

    check = partial(
        opproof.check, stored, like=both, inputs=[(16, 64), (16, 64)], dtype="bf16", raises=False, neighbours=False
    )
    assert check(compute={"y0": "storage", "x": "storage", "w": "storage"}).ok
    assert found(check(compute={"y0": "storage"})) == {("WRONG_GRADIENT", "gradient")}
    assert found(check(compute={"y1": "storage", "x": "storage"})) == {
        ("WRONG_VALUE", "forward"),
        ("WRONG_GRADIENT", "gradient"),
    }


def test_an_argument_without_a_gradient():
    class Rope(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, cos):
            ctx.save_for_backward(cos)
            return x * cos

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    def rope(x, cos):
        return x * cos

    assert GIVEN(Rope.apply, like=rope, grads={"cos": None}).ok
    report = GIVEN(Rope.apply, like=rope)
    assert found(report) == {("WRONG_GRADIENT", "gradient")}
    assert "or say grads={'cos': None}" in str(report)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"inplace": ("z",)}, "inplace names 'z': expected some of x, w"),
        ({"overwrites": "grads"}, "did you mean grad"),
        ({"inplace": ("x",), "overwrites": ("x",)}, "leave one out"),
        ({"inplace": ("x", "w")}, "holds 2 results: the reference has 1"),
        ({"inplace": ("grad",)}, "inplace names 'grad': expected some of x, w"),
        ({"backwards": 2}, "backwards=2: expected 1"),
        ({"multiple_of": {"x.-1": 0}}, "expected a whole number from 1 on"),
        ({"multiple_of": ["x"]}, "expected a dict"),
        ({"multiple_of": {"hidden": 8}}, "there is no size 'hidden'"),
        ({"multiple_of": {"x.-1": 5}}, "x.-1 is 32, and multiple_of={'x.-1': 5} is declared"),
        ({"sizes": {"x.-1": (32, 33)}, "multiple_of": {"x.-1": 8}}, "sizes allows 33"),
        ({"sizes": {"x.-1": ()}}, "expected whole numbers from 1 on"),
        ({"signature": "(b,h)"}, "has 1 groups: expected 2"),
        ({"signature": "(b,h),(h)"}, "gives w 1 axes: expected 2"),
        ({"grads": {"x": 1}}, "expected None for 'x'"),
        ({"compute": {"y7": "storage"}}, "compute names 'y7': expected some of y0, x, w"),
        ({"compute": {"y0": "stored"}}, "expected storage"),
        ({"compute": "stored"}, "expected storage"),
        ({"inplace": ("x",), "modes": ("jvp",)}, "modes="),
    ],
)
def test_a_contract_that_makes_no_sense(wrong, said):
    with pytest.raises(UsageError, match=said.replace("(", r"\(").replace(")", r"\)").replace("{", r"\{")):
        GIVEN(like, like=like, **wrong)


def test_an_operator_by_name_has_no_contract():
    with pytest.raises(UsageError, match="inplace belongs to like="):
        opproof.check(torch.tanh, "tanh", inplace=("x",))


def test_the_call_again_has_the_contract():
    report = GIVEN(like, like=like, inplace=("x",), backwards=1)
    assert "inplace=('x',), backwards=1)" in report.repro(report.worst)


FILE = """
import torch


def reference(x, w):
    return torch.tanh(x * w)


def candidate(x, w):
    x.mul_(w).tanh_(){}


def inputs(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(6, 32, generator=generator).to(dtype) for _ in range(2)]
"""


def checked(tmp_path, *options, text=FILE, tail=""):
    (tmp_path / "both.py").write_text(text.replace("{}", tail))
    given = ["check", str(tmp_path / "both.py"), "--seconds", "0.5", "--accept-partial", *options]
    return CliRunner().invoke(cli, given, standalone_mode=False)


def test_the_command_has_the_options(tmp_path):
    assert checked(tmp_path, "--inplace", "x").return_value == 0
    done = checked(tmp_path, "--inplace", "x", "--multiple-of", "x.-1=32", "--no-grad", "w", tail="; x.data.mul_(2)")
    assert done.return_value == 1
    assert "--inplace x --multiple-of x.-1=32 --no-grad w" in done.output
    assert checked(tmp_path).return_value == 1


def test_a_file_has_a_contract(tmp_path):
    assert (
        checked(tmp_path, text=FILE + "\n\ncontract = {'inplace': ('x',), 'sizes': {'x.-1': 32}}\n").return_value == 0
    )
    for wrong, said in (
        ("'x'", "is a str"),
        ("{'in_place': 'x'}", "has 'in_place'"),
        ("{'inplace': 3}", "names of arg"),
    ):
        done = checked(tmp_path, text=FILE + f"\n\ncontract = {wrong}\n")
        assert isinstance(done.exception, UsageError)
        assert said in str(done.exception)


def test_the_command_is_told_of_a_wrong_contract(tmp_path):
    assert isinstance(checked(tmp_path, "--inplace", "z").exception, UsageError)
    for option, value in (("--multiple-of", "x.-1"), ("--sizes", "=3"), ("--sizes", "x.-1=a"), ("--backwards", "2")):
        assert isinstance(checked(tmp_path, option, value).exception, BadParameter)


def test_the_fixture_has_the_options(opproof_check):
    assert opproof_check(in_place, like=like, inputs=INPUTS, dtype="f32", seconds=0.5, inplace=("x",)).ok


def test_a_gradient_that_is_overwritten_where_one_output_of_two_is_used():
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            return 2 * x, 3 * w

        @staticmethod
        def backward(ctx, g, h):
            return g.mul_(2), h.mul_(3)

    def pair(x, w):
        return 2 * x, 3 * w

    report = GIVEN(Pair.apply, like=pair, overwrites=("grad",))
    assert report.ok, report


def heads(seed):
    """As a projection of attention comes: tokens lie outside of heads."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 7, 4, 8, generator=g).transpose(1, 2), torch.randn(7, 8, generator=g)]


def turn(q, cos):
    return q * cos


def turn_where_tokens_lie(q, cos):
    tokens = q.detach().transpose(1, 2).contiguous()  # no copy where they lie outside of heads
    return tokens.mul_(cos[:, None]).transpose(1, 2)


def test_strides_of_given_tensors_are_kept():
    judge = partial(GIVEN, turn_where_tokens_lie, like=turn, gradients=False)
    assert found(judge(inputs=heads)) == {("INPUT_CHANGED", "forward")}
    assert judge(inputs=heads, inplace=("q",)).ok
    assert judge(inputs=lambda seed: [t.contiguous() for t in heads(seed)]).ok


def test_tensors_given_with_exchanged_axes_come_packed_too():
    def only_as_given(q, cos):
        return turn(q, cos) * (1 if q.stride(1) < q.stride(2) else 2)

    report = judged(only_as_given, like=turn, inputs=heads, seconds=3)
    assert "packed" in [report.variants[r.case] for rs in report.failures.values() for r in rs]
    assert "as given" not in [report.variants[r.case] for rs in report.failures.values() for r in rs]
