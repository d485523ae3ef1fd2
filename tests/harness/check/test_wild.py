"""What kernels of other libraries taught: each rule lets an honest one pass, and a wrong one close by fails still."""

from __future__ import annotations

import pytest
from _deep import few

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

F = torch.nn.functional


def judged(candidate, like, inputs, **options):
    options = {"dtype": "f32", "seconds": 1e9, **options}
    return opproof.check(candidate, like=like, inputs=inputs, raises=False, **options)


def verdicts(report):
    return {(report.variants[r.case], str(r.verdict)) for rs in report.failures.values() for r in rs}


def messages(report):
    return " ".join(r.message for rs in report.failures.values() for r in rs)


def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos.detach() + torch.cat([-b, a], -1) * sin.detach()


def angles(width, *, twice):
    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        angle = torch.arange(9)[:, None] * 100.0 ** -torch.linspace(0, 1, width // 2)
        whole = [torch.cat([t, t], -1) if twice else t for t in (angle.cos(), angle.sin())]
        return [t.to(dtype) for t in (torch.randn(3, 9, width, generator=generator), *whole)]

    return inputs


def halves(x, cos, sin, flip=1.0):
    """A kernel that reads half of the cosines, as those of rotations do, and has whole pairs alone."""
    n = x.shape[-1] // 2
    a, b = x[..., :n], x[..., n : 2 * n]
    cos, sin = cos[..., :n], sin[..., :n]
    y = torch.zeros_like(x)
    y[..., :n], y[..., n : 2 * n] = a * cos - flip * b * sin, b * cos + a * sin
    return y


def test_cosines_that_are_held_twice_stay_so():
    inputs = angles(16, twice=True)
    report = judged(halves, turned, inputs)
    assert report.ok, report
    assert any(name.startswith("9 as") for name in report.tried)
    assert not any("16 as" in name for name in report.tried)
    wrong = judged(lambda *t: halves(*t, flip=-1.0), turned, inputs)
    assert ("as given", "WRONG_VALUE") in verdicts(wrong)


def test_an_odd_size_that_has_no_halves_says_nothing():
    def rotated(x):
        a, b = x.chunk(2, -1)
        return torch.cat([-b, a], -1).square()

    def kernel(x, from_=0):
        n = x.shape[-1] // 2
        y = torch.zeros_like(x)
        y[..., :n], y[..., n + from_ : 2 * n] = x[..., n : 2 * n].square(), x[..., from_:n].square()
        return y

    report = judged(kernel, rotated, [(3, 16)])
    assert report.ok, report
    assert "16 as 17: the reference: it joins pieces of several sizes, which are alike as given" in report.not_judged
    assert ("as given", "WRONG_VALUE") in verdicts(judged(lambda x: kernel(x, 1), rotated, [(3, 16)]))


def test_nan_of_numbers_is_nobodys_truth():
    def divergence(x, target):
        q, p = x.softmax(-1), target.softmax(-1)
        middle = ((p + q) / 2).log()
        return (q * (q.log() - middle)).sum(-1)

    def kernel(x, target, factor=1.0):
        log, p = x.log_softmax(-1), target.softmax(-1)
        q = log.exp()
        middle = ((p + q) / 2).clamp_min(torch.finfo(x.dtype).tiny).log()
        return factor * (q * (log - middle)).sum(-1)

    inputs, options = [(6, 40), (6, 40)], {"gradients": False}
    report = judged(kernel, divergence, inputs, only="large values", **options)
    assert not report.ok
    assert not report.failures
    assert judged(kernel, divergence, inputs, only="as given", **options).ok
    wrong = judged(lambda *t: kernel(*t, 1.01), divergence, inputs, only="as given", **options)
    assert ("as given", "WRONG_VALUE") in verdicts(wrong)


def test_steps_that_overflow_on_the_way_to_infinity_are_nobodys_to_compute():
    def reference(x):  # 1e42 - 1e39 at 1e3: infinite in float32, or NaN, as inf - inf is
        return x**14 - x**13

    report = judged(reference, reference, [torch.linspace(1, 11, 40)])
    assert report.ok, report
    assert "large values: the reference: it overflows in float32 itself" in report.not_judged
    wrong = judged(lambda x: (x**14 - x**13) / (x.abs() < 30), reference, [torch.linspace(1, 11, 40)])
    assert {wrong.variants[r.case] for rs in wrong.failures.values() for r in rs} == {"wide values"}
    assert any(text.startswith("negative values: x is not positive there") for text in wrong.beyond)


def test_where_a_window_ends_is_told():
    def window(x, width=3):
        return torch.stack([x[max(0, i - width + 1) : i + 1].square().sum(0) for i in range(len(x))])

    def like(x):  # whose width has no name
        return window(x)

    report = judged(lambda x: window(x, 4), like, [(9, 5)], only="as given", gradients=False)
    assert report.results[0].diagnosis == "only the elements from 3 on along axis 0 of y0 are wrong"
    assert judged(window, window, [(9, 5)], only="as given", gradients=False).ok


def masked(x, mask):
    return (x + (1 - mask) * -1e9).softmax(-1)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_a_mask_that_is_taken_from_one_is_exact(dtype):
    def kernel(x, mask, factor=1.0):
        return factor * x.float().masked_fill(mask == 0, float("-inf")).softmax(-1).to(x.dtype)

    inputs = [torch.linspace(-2, 3, 32).reshape(4, 8), (torch.arange(8) < torch.tensor([[3], [8], [1], [5]])).float()]
    report = judged(kernel, masked, inputs, dtype=dtype)
    assert report.ok, report
    wrong = judged(lambda *t: kernel(*t, factor=1.03), masked, inputs, only="as given", dtype=dtype)
    assert set(wrong.failures) == {"WRONG_VALUE", "WRONG_GRADIENT"}, wrong


def test_who_says_how_memory_should_lie_declines():
    def pairs(x):
        return torch.view_as_real(torch.view_as_complex(x) * 1j)

    def reference(x):
        return torch.stack([-x[..., 1], x[..., 0]], -1)

    report = judged(pairs, reference, [(5, 4, 2)])
    assert report.ok, report
    assert any("offset: the candidate declines: " in why and "storage_offset" in why for why in report.not_judged)
    wrong = judged(lambda x: pairs(x.view(-1, 2)).view(x.shape), reference, [(5, 4, 2)], only="transposed")
    assert ("transposed", "ERROR") in verdicts(wrong)


def shares(x, y):
    return x.softmax(-1) @ y


def stored(x, y, factor=1.0):
    return factor * (x.float().softmax(-1).to(x.dtype).float() @ y.float()).to(x.dtype)


def test_a_kernel_that_stores_its_shares_is_told_what_to_declare():
    said = 'declare that with compute="storage"'
    options = {"dtype": "f16", "only": "as given", "gradients": False}
    inputs = [(16, 40), (40, 24)]
    plain = judged(stored, shares, inputs, **options)
    assert said in messages(plain)
    assert "little is proved" not in messages(plain)
    assert judged(stored, shares, inputs, compute="storage", **options).ok
    wrong = judged(lambda *t: stored(*t, 1.25), shares, inputs, **options)
    assert verdicts(wrong) == {("as given", "WRONG_VALUE")}
    assert said not in messages(wrong)


def test_results_that_are_wrong_together_are_told_of_no_declaration():
    """Cut off instead of rounded, each is within its bound: intermediates that were stored do not look so."""

    def normed(x, w):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w

    def cut(x, w):
        y = normed(x.float(), w.float())
        return (y.view(torch.int32) & -65536).view(torch.float32).to(x.dtype)

    found = judged(cut, normed, [(6, 48), (48,)], dtype="bf16", only="as given", gradients=False)
    assert verdicts(found) == {("as given", "WRONG_VALUE")}
    (message,) = [r.message for rs in found.failures.values() for r in rs]
    assert message.startswith("every element is within its bound, but results are rounded towards zero (truncated)")
    assert message.endswith("on average: round to nearest")


def test_in_bf16_that_declaration_proves_something():
    def normed(x, w):
        return F.rms_norm(x, x.shape[-1:], w, 1e-6)

    options = {"dtype": "bf16", "compute": "storage", "only": "as given"}
    assert judged(lambda x, w: 1.0 * normed(x, w), normed, [(16, 40), (40,)], **options).ok
    found = judged(lambda x, w: 1.02 * normed(x, w), normed, [(16, 40), (40,)], **options)
    assert verdicts(found) == {("as given", "WRONG_VALUE"), ("as given", "WRONG_GRADIENT")}


def test_a_result_in_float32_of_logits_that_are_stored():
    def widened(x, w):
        return (x @ w).float().logsumexp(-1)

    def loss(x, w):
        return (x.float() @ w.float()).logsumexp(-1)

    def kernel(x, w, factor=1.0):
        return factor * (x.float() @ w.float()).to(x.dtype).float().logsumexp(-1)

    options = {"dtype": "f16", "gradients": False, "only": "as given"}
    inputs = [(18, 24), (24, 67)]
    assert judged(kernel, widened, inputs, **options).ok, "which has them in f16 itself"
    assert judged(lambda *t: kernel(*t, 1.01), widened, inputs, **options).failures
    assert 'compute="storage"' in messages(judged(kernel, loss, inputs, **options))
    assert judged(kernel, loss, inputs, compute="storage", **options).ok
    wrong = judged(lambda *t: kernel(*t, 1.01), loss, inputs, compute="storage", **options)
    assert verdicts(wrong) == {("as given", "WRONG_VALUE")}


def test_a_constant_of_the_kernel_and_an_input_that_it_consumes_say_what_to_do():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(factor)
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    inputs = [(5, 9), (9,)]
    report = judged(Scaled.apply, torch.mul, inputs, only="as given")
    assert "where x1 is meant as a constant, write x1.detach() in the reference" in messages(report)
    assert judged(Scaled.apply, lambda x, factor: x * factor.detach(), inputs, only="as given").ok

    def consumed(x, y):
        return x.mul_(y)

    options = {"only": "as given", "gradients": False}
    assert "say inplace=('x0',)" in messages(judged(consumed, torch.mul, inputs, **options))
    assert judged(lambda x, y: consumed(x.clone(), y), torch.mul, inputs, **options).ok


def test_a_factor_near_one_is_told_from_one():
    report = judged(lambda x: x.square() * (1 + 2**-16), torch.square, [(8, 40)], only="as given", gradients=False)
    assert report.worst.diagnosis == "every element of y0 is (1 + 1.5e-05) × the expected value"


def test_a_kernel_that_asks_for_contiguous_tensors_declines_others_and_one_that_ignores_strides_fails():
    def asserted(x):
        assert x.is_contiguous(), "x must be contiguous"
        return x.square()

    report = judged(asserted, torch.square, [(6, 10)])
    assert report.ok, report
    assert "transposed: the candidate declines: AssertionError: x must be contiguous" in report.not_judged

    def viewed(x):
        return x.view(-1).square().view(x.shape)

    assert ("transposed", "ERROR") in verdicts(judged(viewed, torch.square, [(6, 10)], only="transposed"))

    def unheeded(x):
        return x.as_strided(x.shape, (x.shape[1], 1)).square()

    found = verdicts(judged(unheeded, torch.square, [(6, 10)], only="transposed"))
    assert ("transposed", "WRONG_VALUE") in found


def test_an_error_whose_first_line_ends_in_a_colon_is_told_with_the_next():
    def kernel(x):
        message = "the compiler raised:\n\n  no such register"
        raise RuntimeError(message)

    report = judged(kernel, torch.square, [(6, 10)], only="as given")
    assert messages(report) == "RuntimeError: the compiler raised: no such register"


def attention(q, k, v):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    places = torch.arange(q.shape[-2])
    return scores.masked_fill(places > places[:, None], -torch.inf).softmax(-1) @ v


class Flash(torch.autograd.Function):
    """As matrix units have it: shares and their gradients are stored in 16 bits before they are multiplied again."""

    @staticmethod
    def forward(ctx, q, k, v, wrong):
        scores = q.float() @ k.float().mT / q.shape[-1] ** 0.5
        places = torch.arange(q.shape[-2])
        scores = scores.masked_fill(places > places[:, None], -torch.inf)
        lse = scores.logsumexp(-1, keepdim=True)
        shares = (scores - lse).exp()
        y = (shares.to(v.dtype).float() @ v.float() * (1.02 if wrong == "factor" else 1)).to(q.dtype)
        ctx.save_for_backward(q, k, v, y, shares)
        ctx.wrong = wrong
        return y

    @staticmethod
    def backward(ctx, g):
        q, k, v, y, shares = ctx.saved_tensors
        delta = (g.float() * y.float()).sum(-1, keepdim=True) * (0 if ctx.wrong == "delta" else 1)
        pulled = (shares * (g.float() @ v.float().mT - delta)).to(q.dtype).float()
        scale = 1 if ctx.wrong == "scale" else q.shape[-1] ** -0.5
        dv = shares.to(v.dtype).float().mT @ g.float()
        dq, dk = pulled @ k.float() * q.shape[-1] ** -0.5, pulled.mT @ q.float() * scale
        return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype), None


@pytest.mark.parametrize("dtype", few(["bf16", "f16"]))
def test_an_attention_of_16_bit_operands_declares_them(dtype):
    """Undeclared it fails, as sums in 16 bits do, and is told what to declare; so declared it does not fail."""
    inputs = [(2, 3, 17, 16)] * 3
    undeclared = judged(lambda *t: Flash.apply(*t, ""), attention, inputs, dtype=dtype, only="as given")
    assert undeclared.failures
    assert 'declare that with compute="storage"' in str(undeclared)
    for name in ("as given", "wide values", "offset values", "transposed"):
        report = judged(lambda *t: Flash.apply(*t, ""), attention, inputs, dtype=dtype, only=name, compute="storage")
        assert not report.failures, report
    for wrong, verdict in (("factor", "WRONG_VALUE"), ("delta", "WRONG_GRADIENT"), ("scale", "WRONG_GRADIENT")):
        kernel = lambda *t, wrong=wrong: Flash.apply(*t, wrong)  # noqa: E731
        found = judged(kernel, attention, inputs, dtype=dtype, only="as given", compute="storage")
        assert ("as given", verdict) in verdicts(found), wrong


class Saved(torch.autograd.Function):
    """elu, whose gradient comes from the stored result: g (y + alpha) below 0."""

    @staticmethod
    def forward(ctx, x):
        y = F.elu(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, g, g * (y + 1))


class Forgetful(Saved):
    """The same with another alpha."""

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, g, g * (y + 1.001))


@pytest.mark.parametrize(("kernel", "failed"), [(Saved, set()), (Forgetful, {"WRONG_GRADIENT"})])
def test_a_gradient_of_elu_may_come_from_its_result(kernel, failed):
    """Inside a chain too, where other ways are tried after decisions of other operations."""
    report = judged(lambda x: kernel.apply(x).cumsum(0), lambda x: F.elu(x).cumsum(0), [(5, 33)])
    assert set(report.failures) == failed


def test_the_gradient_of_a_complex_table():
    """Rows that are taken twice are summed, and how many are is no complex number."""

    def turned(x, table, rows):
        return torch.view_as_real(torch.view_as_complex(x) * table[rows])

    def by_parts(x, table, rows):
        c, s = table.real[rows], table.imag[rows]
        return torch.stack([x[..., 0] * c - x[..., 1] * s, x[..., 0] * s + x[..., 1] * c], -1)

    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        angles = torch.randn(5, generator=generator)
        rows = torch.randint(5, (9,), generator=generator)
        return [torch.randn(9, 2, generator=generator), torch.polar(torch.ones(5), angles), rows]

    assert opproof.check(by_parts, like=turned, inputs=inputs, seconds=1, raises=False).ok
