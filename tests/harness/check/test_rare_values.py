"""Zeros, floors, larger sizes and later draws: what the inputs given hold seldom or never."""

from __future__ import annotations

import dataclasses
import math
import time

import numpy as np
import pytest
from _deep import few

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.call.other_calls import ReusedBuffers  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.fills import scale_values  # noqa: E402

F = torch.nn.functional


def judged(candidate, like, inputs, **options):
    return opproof.check(candidate, like=like, inputs=inputs, dtype="f32", raises=False, seconds=1e9, **options)


def wrong_at(candidate, like, inputs, **options):
    report = judged(candidate, like, inputs, **options)
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def normalised(x):
    return x / x.square().sum(-1, keepdim=True).sqrt().clamp_min(1e-12)


def test_a_row_of_zeros_that_nothing_keeps_from_a_division_by_zero():
    assert judged(normalised, normalised, [(8, 12)]).ok
    found = wrong_at(lambda x: x / x.square().sum(-1, keepdim=True).sqrt(), normalised, [(8, 12)], gradients=False)
    assert found == {"slices of zeros"}


def test_zeros_that_are_taken_for_what_is_missing():
    def products(x, w):
        return x @ w + (x == 0).sum(-1, keepdim=True)

    assert judged(products, products, [(8, 12), (12, 4)]).ok
    found = wrong_at(lambda x, w: x @ w, products, [(8, 12), (12, 4)])
    assert found == {"zeros in places"}  # once one is wrong the others tell no more


def soft(x):
    return torch.log1p(torch.exp(-x.abs())) + x.clamp_min(0)


class Soft(torch.autograd.Function):
    """By a backward of its own, at 0 and elsewhere."""

    @staticmethod
    def forward(ctx, x, at_zero):
        ctx.save_for_backward(x)
        ctx.at_zero = at_zero
        return F.softplus(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.where(x == 0, ctx.at_zero, x.sigmoid()), None


def test_kinks_that_cancel_at_zero():
    """By autograd the derivative of the first is 1 at 0, where 1/2 is right."""
    assert not wrong_at(soft, F.softplus, [(8, 12)], only="zeros in places")
    assert wrong_at(Soft.apply, lambda x, _: soft(x), [(8, 12), 0.75], only="zeros in places") == set()
    for at_zero, wrong in ((0.5, False), (1.0, True), (math.nan, True), (90.0, True)):
        found = wrong_at(lambda x, of=at_zero: Soft.apply(x, of), F.softplus, [(8, 12)], only="zeros in places")
        assert bool(found) is wrong


def test_a_kink_at_which_all_that_is_expected_is_zero():
    """relu has 0 there and clamp_min 1, by PyTorch's own autograd."""

    def relu(x, w):
        return (x @ w).relu()

    assert not wrong_at(lambda x, w: (x @ w).clamp_min(0), relu, [(8, 12), (12, 4)], only="x of zeros")
    found = wrong_at(lambda x, w: (x @ w).relu() + x.sum() * 1e6, relu, [(8, 12), (12, 4)], only="x of zeros")
    assert found == {"x of zeros"}


def test_scales_that_are_all_positive_get_no_zeros():
    """Whoever divides by them may do as he likes at 0."""

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.rand(4, 6, generator=generator).to(dtype) + 0.5]

    report = judged(lambda x: x.reciprocal() * (x != 0), torch.reciprocal, inputs)
    assert report.ok
    assert not any("zeros" in name for name in report.tried)


@pytest.mark.parametrize(("eps", "other"), few([(1e-8, 2e-8), (1e-12, 1e-11), (1e-6, 3e-6)]))
def test_another_floor(eps, other):
    def normed(x, floor=eps):
        return x / (x.square().mean(-1, keepdim=True).sqrt() + floor)

    assert judged(normed, normed, [(8, 12)]).ok
    assert wrong_at(lambda x: normed(x, other), normed, [(8, 12)])


def test_a_floor_that_a_function_of_torch_has():
    def normed(x, floor=1e-12):
        return x / x.square().sum(-1, keepdim=True).sqrt().clamp_min(floor)

    given = {"like": lambda x: F.normalize(x, dim=-1), "inputs": [(8, 12)], "only": "values times 1e-12"}
    assert wrong_at(lambda x: normed(x, 1e-11), **given) == {"values times 1e-12"}
    assert not wrong_at(normed, **given)


def test_values_that_tell_nothing_are_named_in_one_line():
    report = judged(lambda x: 1 + x.square(), lambda x: 1 + x.square(), [(8, 12)])
    assert report.ok
    assert "tiny values" not in report.tried
    assert "x of zeros, tiny values: nothing follows from what comes there" in report.not_judged


@pytest.mark.parametrize("size", few([128, 64, 256]))
def test_a_kernel_for_rows_of_one_block(size):
    def first_block(x):
        return x[:, :size].sum(-1)

    def inputs(seed, dtype):
        return [torch.randn(4, 32, generator=torch.Generator().manual_seed(seed)).to(dtype)]

    assert wrong_at(first_block, lambda x: x.sum(-1), inputs)
    assert wrong_at(first_block, lambda x: x.sum(-1), [(4, 32)])


def test_what_is_larger_is_no_news_where_it_is_declined():
    def small(x):
        assert x.shape[-1] <= 40, "rows of 40 at most"
        return x.sum(-1)

    report = judged(small, lambda x: x.sum(-1), lambda seed: [torch.randn(4, 32)])
    assert report.ok
    assert not any("rows of 40" in text for text in report.not_judged)


def test_what_few_draws_show():
    def inputs(seed, dtype):
        x = torch.randn(8, 16, generator=torch.Generator().manual_seed(seed)).clamp(-3, 3)
        x[2, 3] = 10.0 if seed == 9 else 0.5
        return [x.to(dtype)]

    def held(x):
        return torch.where(x == 10, 9.0, x) * 2

    assert wrong_at(held, lambda x: x * 2, inputs) == {"draw of seed 9"}
    assert wrong_at(held, lambda x: x * 2, inputs, only="draw of seed 9") == {"draw of seed 9"}


def test_what_is_wrong_beside_an_overflow_is_wrong():
    """Some rows overflow in float32 at large values; others are wrong, and not because of that."""

    def exps(x):
        return x.exp().sum(-1) / x.exp().amax(-1)

    def off(x):
        return exps(x) * torch.where(x.amax(-1) > 30, 1.5, 1.0)

    assert not wrong_at(exps, exps, [(64, 3)], gradients=False, only="large values")
    assert "large values" in wrong_at(off, exps, [(64, 3)], gradients=False)


def test_a_tensor_that_is_zero_as_a_whole():
    """The step of LAMB: where weights are all 0 the ratio is 1."""

    def stepped(w, update):
        ratio = w.norm() / update.norm()
        return w - 0.01 * torch.where(ratio > 0, ratio, 1.0) * update

    def bare(w, update):
        return w - 0.01 * (w.norm() / update.norm()) * update

    given = {"like": stepped, "inputs": [(8, 12), (8, 12)], "gradients": False, "only": "w of zeros"}
    assert not wrong_at(stepped, **given)
    assert wrong_at(bare, **given) == {"w of zeros"}


def test_zeros_above_negative_numbers():
    def most(x):
        return x.amax(-1)

    def below(x):
        m = x.amax(-1)
        return torch.where((m == 0) & (x < 0).any(-1), -1.0, m)

    assert wrong_at(below, most, [(8, 12)], gradients=False, only="zeros among negative values") == {
        "zeros among negative values"
    }


def test_shares_that_are_zero():
    """Of 0 the entropy's term is 0."""

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(6, 10, generator=generator).softmax(-1).to(dtype)]

    given = {
        "like": lambda p: -torch.xlogy(p, p).sum(-1),
        "inputs": inputs,
        "gradients": False,
        "only": "zeros in places",
    }
    assert not wrong_at(lambda p: torch.special.entr(p).sum(-1), **given)
    assert wrong_at(lambda p: -(p * p.log()).sum(-1), **given) == {"zeros in places"}


def test_a_row_that_no_mask_leaves_empty():
    """0 or NaN is right where everything is masked."""

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        lengths = torch.randint(1, 11, (6, 1), generator=generator)
        return [torch.randn(6, 10, generator=generator).to(dtype), (torch.arange(10) < lengths).to(dtype)]

    def kept(x, mask):
        return torch.where(mask > 0, x, -torch.inf).softmax(-1)

    assert not wrong_at(kept, lambda x, mask: (x + (1 - mask) * -1e9).softmax(-1), inputs, only="slices of zeros")


def test_what_is_off_by_little_where_inputs_seldom_are():
    """A share that is rescaled a thousand times is off by more than one that is not, and right all the same."""

    def online(x):
        most, total = x[:, 0] - 1, x[:, 0] * 0
        for part in x.split(2, -1):
            new = torch.maximum(most, part.amax(-1))
            total = total * (most - new).exp() + (part - new[:, None]).exp().sum(-1)
            most = new
        return most + total.log()

    given = {"like": lambda x: x.logsumexp(-1), "inputs": [(3, 24)], "only": "24 as 1100"}
    assert not wrong_at(online, **given)
    assert wrong_at(lambda x: online(x[:, :1024]), **given)


def test_ties_along_the_first_axis():
    def first(x):
        return x.argmax(0)

    given = {"like": first, "inputs": [(12, 3)], "gradients": False, "only": "ties along axis -2"}
    assert not wrong_at(first, **given)
    assert "ties along axis -2" in judged(first, **given).tried


@pytest.mark.parametrize("size", [512, 1024])
def test_a_kernel_for_rows_of_a_large_block(size):
    assert wrong_at(lambda x: x[:, :size].sum(-1), lambda x: x.sum(-1), [(4, 64)], only="64 as 1100") == {"64 as 1100"}


def test_a_kernel_of_one_tile_each_way():
    def one_tile(x):
        wrong = 0.5 if min(x.shape) > 64 else 1.0
        return x.exp() * wrong

    def inputs(seed, dtype):
        return [torch.randn(24, 32, generator=torch.Generator().manual_seed(seed)).to(dtype)]

    assert wrong_at(one_tile, torch.exp, inputs, only="24 as 65 and 32 as 67") == {"24 as 65 and 32 as 67"}


@pytest.mark.parametrize("by_shape", [True, False])
def test_a_kernel_for_one_batch(by_shape):
    def inputs(seed, dtype):
        return [torch.randn(1, 24, generator=torch.Generator().manual_seed(seed)).to(dtype)]

    found = wrong_at(
        lambda x: x[:1].exp().repeat(len(x), 1), torch.exp, [(1, 24)] if by_shape else inputs, only="1 as 2"
    )
    assert found == {"1 as 2"}


def test_what_there_was_no_time_for_is_named():
    report = opproof.check(torch.exp, like=torch.exp, inputs=[(4, 6)], dtype="f32", raises=False, seconds=0.2)
    assert any("the time was over, give more than seconds=0.2" in text for text in report.not_judged)
    assert report.left
    few = dataclasses.replace(report, tried=("as given",), asked=1, left=2)
    assert few.sentence.startswith("only 1 of 3 planned variants were tried: in these exp is exp: ")


def test_a_variant_that_takes_too_long_is_ended(monkeypatch):
    """A reference whose steps grow with the square of a size: 1,100 of them are begun, and left."""

    def steps(x):
        for _ in range(x.shape[-1] ** 2 // 10):
            x = x.sin()
        return x

    monkeypatch.setattr("opproof.harness.check.judge.budget.Pace.seconds", lambda *_: 0.0)
    start = time.monotonic()
    report = opproof.check(steps, like=steps, inputs=inputs_of(2, 20), gradients=False, raises=False, seconds=2)
    assert report.ok
    assert any("20 as 1100" in text for text in report.not_judged)
    assert time.monotonic() - start < 60  # to the end it would take minutes


def inputs_of(*shape):
    return lambda seed: [torch.randn(shape, generator=torch.Generator().manual_seed(seed))]


def test_a_root_of_squares_that_are_all_zero():
    """Its derivative is infinite, and NaN once it is multiplied by 0: a row of padding does away with a training."""

    def lengths(x):
        return x * x.square().sum(-1, keepdim=True).sqrt()

    given = {"like": lambda x: x * x.norm(dim=-1, keepdim=True), "inputs": [(8, 12)], "only": "slices of zeros"}
    assert not wrong_at(lambda x: x * torch.linalg.vector_norm(x, dim=-1, keepdim=True), **given)
    report = judged(lengths, **given)
    assert report.failures.keys() == {"WRONG_GRADIENT"}
    assert "only the elements where a row of x is zero" in report.worst.diagnosis


def test_a_convolution_of_no_channels():
    def shifted(x, w):
        parts = [torch.einsum("bcl,oc->bol", x[:, :, i : x.shape[-1] - 2 + i], w[:, :, i]) for i in range(3)]
        return sum(parts)

    report = judged(shifted, F.conv1d, [(2, 5, 23), (9, 5, 3)], only="5 as 0")
    assert not report.failures
    assert any("of nothing the candidate has another result" in text for text in report.not_judged)


def test_one_rounding_for_a_row():
    """A policy's ratio: all gradients of a row are off by what its logsumexp is."""

    def ratio(x, old):
        return (x.log_softmax(-1)[:, 0] - old).exp().square().sum()

    def by_lse(x, old):
        return (x[:, 0] - x.logsumexp(-1) - old).exp().square().sum()

    for only in ("as given", "offset values", "large values"):
        assert not wrong_at(by_lse, ratio, [(12, 6), (12,)], only=only)


def test_a_part_of_what_is_next_to_nothing_was_flushed():
    """By PyTorch's own mish, whose sigmoid is 0 below -89 in float32."""
    given = {"like": lambda a, b: a * torch.tanh(F.softplus(a)) * b, "inputs": [(7, 22), (7, 22)]}
    assert not wrong_at(lambda a, b: F.mish(a) * b, **given, only="negative values")


def test_an_axis_that_is_told_by_its_size():
    def scaled(x, v):
        axis = next(a for a in (0, 1) if x.shape[a] == v.shape[0])
        return x * (v[:, None] if axis == 0 else v)

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(9, 20, generator=generator).to(dtype), torch.randn(20, generator=generator).to(dtype)]

    assert wrong_at(scaled, lambda x, v: x * v, inputs, only="20 as 9") == {"20 as 9"}
    assert wrong_at(scaled, lambda x, v: x * v, [(9, 20), (20,)], only="20 as 9") == {"20 as 9"}


def test_a_value_is_not_excused_by_a_gradient_that_is_infinite():
    """Of a share of 0 the entropy is 0 and its derivative infinite."""

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(6, 10, generator=generator).softmax(-1).to(dtype)]

    given = {"like": lambda p: -torch.xlogy(p, p).sum(-1), "inputs": inputs, "only": "zeros in places"}
    assert wrong_at(lambda p: -(p * p.log()).sum(-1), **given) == {"zeros in places"}
    assert not wrong_at(lambda p: torch.special.entr(p).sum(-1), **given)


def test_a_row_that_is_shorter_than_a_window():
    def state(x, before):
        return torch.cat([before, x], -1)[:, -3:].clone()

    def short(x, before):
        kept = before[:, :1] if x.shape[1] == 2 else before[:, x.shape[1] :]
        return x[:, -3:].clone() if x.shape[1] >= 3 else torch.cat([kept, x], -1)

    given = {"like": state, "inputs": [(5, 10), (5, 3)], "gradients": False, "only": "10 as 2"}
    assert not wrong_at(state, **given)
    assert wrong_at(short, **given) == {"10 as 2"}


def test_halves_that_a_scale_makes():
    """Half away from 0 is not half to even, which nobody draws by chance."""

    def away(x):
        return torch.sign(x) * torch.floor((x / 0.25).abs() + 0.5)

    report = opproof.check(
        away, like=lambda x: torch.round(x / 0.25), inputs=[(5, 24)], seconds=10, gradients=False, raises=False
    )
    assert not report.ok
    assert "eighths" in str(report)


def test_halves_of_a_finer_scale():
    def away(x):
        return torch.sign(x) * torch.floor((x * 16).abs() + 0.5)

    given = {"like": lambda x: torch.round(x * 16), "inputs": [(5, 24)], "gradients": False}
    assert wrong_at(away, **given) == {"values of few digits"}


def test_a_table_that_is_read_past_its_end():
    """What is raised of values alone, by accident, is no refusal; what is raised on purpose is one."""
    table = torch.linspace(-4, 4, 9)

    def looked_up(x):
        return table[(x + 4).round().long()]

    def refusing(x):
        if x.abs().max() > 4:
            raise ValueError("4 at most")
        return looked_up(x)

    given = {"inputs": lambda: [torch.rand(5, 24) * 7 - 3.5], "gradients": False, "raises": False}
    for kernel, verdicts in ((looked_up, {"ERROR"}), (refusing, set())):
        report = opproof.check(kernel, like=lambda x: x.round().clamp(-4, 4), seconds=10, **given)
        assert {r.verdict for rs in report.failures.values() for r in rs} == verdicts
        assert any("the candidate declines: ValueError" in why for why in report.not_judged) == (not verdicts)


def test_a_floor_beside_the_root_of_a_variance():
    """Where all is 1e-12 of what it was, the root of the variance is a million times the floor."""

    def step(m, v, *, late=True):
        corrected = v / 0.125
        return m / (corrected.sqrt() + 1e-12 if late else (v.sqrt() + 1e-12) / 0.125**0.5)

    def inputs(seed):
        rng = torch.Generator().manual_seed(seed)
        return [torch.randn(5, 24, generator=rng), torch.rand(5, 24, generator=rng) + 0.01]

    assert judged(step, step, inputs).ok
    found = wrong_at(lambda m, v: step(m, v, late=False), step, inputs, gradients=False)
    assert found == {"values times 1e-12, those of one sign times its square"}


def test_one_number_past_the_limit_that_it_starts_below():
    def scaled(x, scale, *, heeds=True):
        limit = scale.exp().clamp(max=100.0)
        return x * (limit if heeds else limit.detach() * (1 + scale - scale.detach()))

    def inputs(seed):
        rng = torch.Generator().manual_seed(seed)
        return [torch.randn(5, 24, generator=rng), 2.6 + 0.2 * torch.rand((), generator=rng)]

    assert judged(scaled, scaled, inputs).ok
    assert wrong_at(lambda x, s: scaled(x, s, heeds=False), scaled, inputs) == {"scale times 4"}


def test_what_is_negative_stays_so_far_from_zero():
    """The logarithm of a decay that were made 10 would be past what float32 holds after nine steps."""
    decays, scores = take_tensor("decay", np.array([-0.5, -0.25])), take_tensor("x", np.array([-0.5, 0.25]))
    assert [values.tolist() for values in scale_values([decays, scores], 1.0, 10.0)] == [[-10.5, -10.25], [9.5, 10.25]]


def test_a_place_that_the_reference_has_in_float32_and_not_in_float64():
    """Shares that are 0 in float32 are equal there, and in float64 in order: which of them is the last differs."""

    def last(x):
        return x.softmax(-1).sort(dim=-1, descending=True, stable=True).indices[..., -1]

    def inputs(seed):
        return [torch.randn(5, 24, generator=torch.Generator().manual_seed(seed))]

    assert judged(last, last, inputs, only="large values").ok
    assert not judged(lambda x: 24 + last(x), last, inputs, only="large values").ok


def test_an_expert_that_more_tokens_choose_than_it_holds():
    def routed(scores, capacity=24):
        taken = torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1])
        place = (taken.cumsum(0) * taken).sum(-1)
        return torch.where(place <= capacity, scores.softmax(-1).amax(-1), 0.0)

    def inputs(seed):
        return [torch.randn(32, 8, generator=torch.Generator().manual_seed(seed))]

    only = "the first column above all"
    assert judged(routed, routed, inputs, only=only).ok
    assert wrong_at(lambda s: routed(s, 25), routed, inputs, only=only) == {only}


def test_zeros_that_an_update_leaves_with_another_sign():
    """What a call has made -0 in place is 0 again for the next."""
    kept = ReusedBuffers()
    for _ in range(2):
        given = kept.refill_tensor(0, torch.zeros(3))
        assert not given.signbit().any()
        given.neg_()


def test_rows_of_which_each_is_far_from_0_by_itself():
    def like(x):
        return x.var(-1, correction=0)

    def kernel(x):
        means = x.mean(-1)
        apart = means.max() - means.min() > 50 * x.std(-1).max()
        return like(x) * (1.1 if apart else 1)

    def inputs(seed, dtype):
        return [torch.randn(8, 48, generator=torch.Generator().manual_seed(seed)).to(dtype)]

    assert wrong_at(kernel, like, inputs) == {"rows far apart"}
    assert not wrong_at(like, like, inputs)


def _drawn(*shapes):
    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]

    return inputs


def test_matrices_whose_first_block_is_singular():
    def by_blocks(m):
        a, b, c, d = m[:, :1, :1], m[:, :1, 1:], m[:, 1:, :1], m[:, 1:, 1:]
        rest = torch.linalg.inv(d - c @ b / a)
        top = torch.cat([1 / a + b @ rest @ c / a / a, -b @ rest / a], -1)
        return torch.cat([top, torch.cat([-rest @ c / a, rest], -1)], -2)

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [(4 * torch.eye(3) + torch.randn(9, 3, 3, generator=generator) / 4).to(dtype)]

    turned = "diagonal matrices, their rows turned round"
    assert wrong_at(by_blocks, torch.linalg.inv, inputs, gradients=False, only=turned)
    assert not wrong_at(by_blocks, torch.linalg.inv, inputs, gradients=False, only="diagonal matrices")
    assert not wrong_at(torch.linalg.inv, torch.linalg.inv, inputs, gradients=False)


def test_eigenvalues_of_diagonal_matrices_that_nobody_sorted():
    def like(m):
        return torch.linalg.eigvalsh((m + m.mT) / 2)

    def kernel(m):
        s = (m + m.mT) / 2
        plain = (s - torch.diag_embed(s.diagonal(dim1=-2, dim2=-1))).abs().sum((-1, -2)) == 0
        return torch.where(plain[:, None], s.diagonal(dim1=-2, dim2=-1), like(m))

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [(torch.randn(9, 3, 3, generator=generator) + torch.diag(torch.tensor([-9.0, 0.0, 9.0]))).to(dtype)]

    assert wrong_at(kernel, like, inputs, gradients=False) == {"diagonal matrices"}


@pytest.mark.parametrize(("sign", "name"), few([(1, "b near a"), (-1, "b near minus a")]))
def test_one_tensor_near_another(sign, name):
    def like(a, b):
        return a * b.sum(-1, keepdim=True)

    def kernel(a, b):
        near = 0 < (sign * a - b).norm() < 0.01 * a.norm()
        return like(a, b) * (1.1 if near else 1)

    inputs = _drawn((6, 12), (6, 12))
    assert wrong_at(kernel, like, inputs) == {name}
    assert not wrong_at(like, like, inputs)


def quantised(x, scale):
    return torch.round(x / scale[:, None]).clamp(-8, 7) * scale[:, None]


def with_scale(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(4, 12, generator=rng).to(dtype), (torch.rand(4, generator=rng) + 0.1).to(dtype)]


def test_halves_of_a_scale_that_is_rounded_away_from_zero():
    def away(x, scale):
        q = x / scale[:, None]
        return (q.abs() + 0.5).floor().copysign(q).clamp(-8, 7) * scale[:, None]

    assert judged(quantised, quantised, with_scale, gradients=False).ok
    assert wrong_at(away, quantised, with_scale, gradients=False)
    name = "halves of the smallest scale"
    assert wrong_at(away, quantised, with_scale, gradients=False, only=name) == {name}
    by_reciprocal = wrong_at(
        lambda x, s: torch.round(x * (1 / s)[:, None]).clamp(-8, 7) * s[:, None], quantised, with_scale, gradients=False
    )
    assert not by_reciprocal, "of powers of two it is exact too, and elsewhere rounding decides"


def test_pictures_that_are_taken_in_few_steps():
    def like(x, w):
        return torch.tanh(x @ w)

    def kernel(x, w):
        steps = x * 255
        picture = bool((x >= 0).all() and (steps - steps.round()).abs().max() < 1e-3 and x.unique().numel() > 16)
        return like((x * 15).round() / 15 if picture else x, w)

    assert wrong_at(kernel, like, [(6, 12), (12, 5)]) == {"values of pixels"}


def test_masks_of_several_widths():
    def attention(scores, mask):
        return torch.softmax(scores.masked_fill(mask, -1e9), -1)

    def inputs(seed, dtype):
        rng = torch.Generator().manual_seed(seed)
        rows, columns = (5, 7) if seed % 2 else (6, 9)
        scores = torch.randn(rows, columns, generator=rng).to(dtype)
        return [scores, torch.rand(rows, columns, generator=rng) < 0.3]

    report = opproof.check(attention, like=attention, inputs=inputs, dtype="f32", raises=False, seconds=8)
    assert report.ok
