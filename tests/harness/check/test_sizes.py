"""Sizes that a factory's tensors are given beside its own, and values among others: what fails there alone is found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from _deep import few

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.tensors import CallTensor  # noqa: E402
from opproof.harness.check.variants.arguments import numbers_of  # noqa: E402
from opproof.harness.check.variants.sizes import fits, join_draws, list_sizes  # noqa: E402

F = torch.nn.functional


def made(*shapes):
    """A factory of normal numbers in these shapes."""

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]

    return inputs


def judged(candidate, like, inputs, **options):
    return opproof.check(candidate, like=like, inputs=inputs, dtype="f32", raises=False, seconds=1e9, **options)


def told(report):
    return {(report.variants[r.case], str(r.verdict)) for rs in report.failures.values() for r in rs}


def summed(x):
    return x.square().sum(-1)


def test_a_last_tile_that_is_left_out():
    def tiled(x):
        return x[:, : x.shape[1] // 16 * 16].square().sum(-1) if x.shape[1] > 1 else summed(x)

    assert judged(summed, summed, made((8, 32))).ok
    found = {("8 as 9 and 32 as 33", "WRONG_VALUE"), ("8 as 9 and 32 as 33", "WRONG_GRADIENT")}
    assert told(judged(tiled, summed, made((8, 32)))) == found


def test_a_spectrum_that_has_as_many_numbers_of_an_odd_row():
    def filtered(x, gain):
        return torch.fft.irfft(torch.fft.rfft(x) * gain, n=x.shape[-1])

    class Filtered(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, gain):
            ctx.save_for_backward(x, gain)
            return filtered(x, gain)

        @staticmethod
        def backward(ctx, g):
            x, gain = ctx.saved_tensors
            folded = torch.full_like(gain, 2.0)
            folded[[0, -1]] = 1.0  # the last number of an odd row's stands for two
            product = torch.fft.rfft(g) * torch.fft.rfft(x).conj()
            return filtered(g, gain), (product.real * folded / x.shape[-1]).sum(0)

    assert judged(filtered, filtered, made((3, 48), (25,))).ok
    assert ("48 as 49", "WRONG_GRADIENT") in told(judged(Filtered.apply, filtered, made((3, 48), (25,))))


def halves(x):
    a, b = x.chunk(2, -1)
    return a * b


def test_a_packed_axis_stays_even():
    def tiled(x):
        a, b = x.chunk(2, -1)
        return a * b * (torch.arange(a.shape[-1]) < a.shape[-1] // 4 * 4)

    report = judged(tiled, halves, made((8, 32)))
    assert {name for name, _ in told(report)} == {"8 as 10 and 32 as 34"}


def test_a_half_stays_half():
    def turned(x, cos):
        return x * torch.cat([cos, cos], -1)

    def of_eight(x, cos):
        return x * torch.cat([cos, cos], -1) * (8 / cos.shape[-1])

    report = judged(of_eight, turned, made((4, 16), (8,)), only="16 as 18 and 8 as 9")
    assert {verdict for _, verdict in told(report)} == {"WRONG_VALUE", "WRONG_GRADIENT"}


def test_an_axis_taken_for_another_of_its_size():
    def gram(x):
        return x @ x.mT

    report = judged(lambda x: gram(x) / x.shape[-1] * x.shape[-2], gram, made((8, 8)))
    assert {name for name, _ in told(report)} == {"axis 1 of 8x8 as 9", "axis 0 of 8x8 as 9"}


def test_a_square_is_made_tall():
    def short(x):
        return x.cumsum(-1) * (2 if x.shape[0] > x.shape[1] else 1)

    assert "axis 0 of 8x8 as 9" in {name for name, _ in told(judged(short, lambda x: x.cumsum(-1), made((8, 8))))}


def test_ends_of_sequences_and_permutations_and_sizes_that_are_named_are_left():
    def tensor(values, dtype="float32"):
        return CallTensor("x", np.asarray(values), dtype)

    def found(*tensors, named=()):
        return [s.name for s in list_sizes(tensors, frozenset(named))]

    rows = tensor(np.ones((40, 12)))
    assert found(rows) == [
        "40 as 41 and 12 as 13", "40 as 42 and 12 as 14", "40 as 41", "40 as 42", "12 as 13", "12 as 14",
        "40 as 50 and 12 as 15", "40 as 1", "12 as 1", "40 as 12", "40 as 2", "40 as 3", "12 as 2",
        "12 as 3", "40 as 69 and 12 as 21", "40 as 90 and 12 as 27",
        "40 as 65 and 12 as 67", "40 as 131 and 12 as 133",
        "40 as 69", "12 as 21", "40 as 64", "12 as 32", "40 as 270", "12 as 270",
        "40 as 384", "12 as 384", "40 as 1100", "12 as 1100", "40 as 4200", "12 as 4200",
    ]  # fmt: skip
    assert found(rows, tensor([0, 13, 20, 40], "int64"))[:3] == ["12 as 13", "12 as 14", "12 as 21"]
    assert found(rows, tensor([2, 0, 1, 3], "int64"))[0] == "40 as 41 and 12 as 13"
    assert found(tensor(np.ones(12)), tensor(np.random.default_rng(0).permutation(12), "int64")) == []
    assert found(tensor(np.ones(12)), tensor([5, 0, 5, 2, 9, 1] * 2, "int64"))[:3] == [
        "12 as 13",
        "12 as 14",
        "12 as 21",
    ]
    assert found(tensor(np.ones((3, 7)))) == []  # taps
    assert found(tensor(np.ones((3, 64))), named=[0.125]) == []
    assert found(tensor(np.ones((3, 64))), named=[2.0])


def test_numbers_that_a_reference_names():
    width = 24

    def scaled(x):
        return helped(x) * width

    assert {24.0, 0.125, -1.0} <= numbers_of(scaled, [])
    assert 17.0 in numbers_of(torch.tanh, [17, "text", None])
    assert 48.0 in numbers_of(torch.nn.Sequential(torch.nn.LayerNorm(48)), [])


def helped(x):
    return torch.softmax(x * 0.125, -1)


def test_a_scale_that_the_reference_names_is_no_fault():
    def scored(q, k):
        return torch.softmax(q @ k.mT * 0.125, -1)

    def by_width(q, k):
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)

    report = judged(by_width, scored, made((6, 64), (10, 64)))
    assert report.ok, report
    assert any("10 as" in name for name in report.tried)


def test_new_places_are_filled_from_the_second_draw():
    one, two = ([CallTensor("x", np.arange(16.0).reshape(4, 4) + k, "float32")] for k in (0, 100))
    (size,) = [s for s in list_sizes(one, frozenset()) if s.name == "4 as 5"]
    (found,) = join_draws((one, two), size)
    assert found.values[:4, :4].tolist() == one[0].values.tolist()
    assert found.values[4, :4].tolist() == [100, 101, 102, 103]
    assert np.unique(found.values[:4]).size == 20


def test_draws_of_other_lengths_are_brought_to_a_size():
    one, two = (CallTensor("x", np.arange(n * 4.0).reshape(n, 4) + 100 * n, "float32") for n in (10, 3))
    given = [CallTensor("x", np.ones((16, 4)), "float32")]
    (size,) = [s for s in list_sizes(given, frozenset()) if s.name == "16 as 17"]
    (found,) = join_draws(([one], [two]), size)
    assert found.shape == (17, 4)
    assert found.values[10:13, 0].tolist() == two.values[:, 0].tolist()
    again = one.values[1:5, 0] * (1 + 1 / 128)  # begun one further on, and equal to none before
    assert found.values[13:, 0].tolist() == again.tolist()


def test_which_draws_can_be_brought_to_a_size():
    def tensors(*shape, labels=()):
        whole = [CallTensor("i", np.array(labels), "int64")] if labels else []
        return [CallTensor("x", np.ones(shape), "float32"), *whole]

    def fitting(given, name, *draws):
        (size,) = [s for s in list_sizes(given, frozenset()) if s.name == name]
        return [fits(draw, given, size) for draw in draws]

    given = tensors(16, 4)
    assert fitting(given, "16 as 17", given, tensors(40, 4), tensors(0, 4), tensors(16)) == [True, True, False, False]
    given, longer = (tensors(n, 4, labels=(2, 0, 1, n - 1)) for n in (16, 20))
    assert fitting(given, "16 as 17", given, longer) == [True, False]
    assert fitting(given, "4 as 5", given, longer) == [True, True]
    given = tensors(8, 8)
    assert fitting(given, "axis 1 of 8x8 as 9", given, tensors(12, 12)) == [True, False]


def rows_of_any_number(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(4 * (2 + 5 * seed % 7), 12, generator=generator).to(dtype)]


def test_a_last_tile_where_the_number_of_rows_is_drawn():
    """What is told as tried has been tried: some call has had a tensor of these sizes."""
    seen = set()

    def tiled(x, rows=lambda n: n):
        seen.add(tuple(x.shape))
        return summed(x) * (torch.arange(len(x)) < rows(len(x)))

    report = judged(tiled, summed, rows_of_any_number)
    assert report.ok, report
    assert "8 as 9 and 12 as 13" in report.tried
    assert (9, 13) in seen
    report = judged(lambda x: tiled(x, lambda n: n // 4 * 4 or n), summed, rows_of_any_number)
    assert ("8 as 9 and 12 as 13", "WRONG_VALUE") in told(report)


def test_draws_that_cannot_be_brought_to_a_size_are_left_out():
    def inputs(seed, dtype):
        (x,) = rows_of_any_number(seed, dtype)
        return [x, torch.tensor([2, 0, len(x) - 1])]

    report = judged(lambda x, i: x[i], lambda x, i: x[i], inputs)
    assert report.ok, report
    assert not any(name.startswith("8 as 9") for name in report.tried)
    assert any(text.startswith("8 as 9: no two draws can be brought to this size") for text in report.not_judged)
    assert "12 as 13" in report.tried


def test_small_values_among_weights_of_their_own_size():
    """All of them small, the last term hides what the first has."""

    def normed(x, w, b):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w + b

    def without(x, w, b):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1.001e-6) * w + b

    inputs = made((8, 12), (12,), (12,))
    assert judged(normed, normed, inputs).ok
    assert {name for name, _ in told(judged(without, normed, inputs))} >= {"small values in places"}


def test_a_largest_number_that_begins_with_zero():
    def pooled(x):
        return torch.logsumexp(x, -1)

    def from_zero(x):
        most = x.amax(-1, keepdim=True).clamp(min=0)
        return most[..., 0] + (x - most).exp().sum(-1).log()

    assert {name for name, _ in told(judged(from_zero, pooled, made((8, 12))))} == {"negative values"}


class Normed(torch.nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(6)
        self.fault = fault
        self.eval()

    def forward(self, x):
        y = self.norm(x)
        if not self.fault:
            return y
        return x * self.norm.weight * torch.rsqrt(self.norm.running_var + self.norm.eps) + self.norm.bias


def test_running_statistics_are_moved_from_zeros_and_ones():
    assert judged(Normed(), Normed(), made((8, 6))).ok
    report = judged(Normed(fault=True), Normed(), made((8, 6)), only="as given")
    assert told(report) == {("as given", "WRONG_VALUE"), ("as given", "WRONG_GRADIENT")}


def test_every_variant_of_a_factory_has_data_of_its_own():
    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(6, 4, generator=generator).to(dtype), torch.tensor([seed % 4, 1, 2])]

    def taken(x, i):
        return x[:, i]

    def first(x, i):
        return x[:, torch.arange(3)] + 0 * i[0]

    assert judged(taken, taken, inputs).ok
    assert judged(first, taken, inputs, only="as given").ok
    assert told(judged(first, taken, inputs))


@pytest.mark.parametrize("rest", [0, 1])
def test_what_a_factory_puts_into_every_second_draw_is_judged(rest):
    def inputs(seed, dtype):
        x = torch.randn(6, 4, generator=torch.Generator().manual_seed(seed))
        x[1, 2] = math.nan if seed % 2 == rest else x[1, 2]
        return [x.to(dtype)]

    def unscaled(x):
        return x / 1024, (~x.isfinite()).any().to(torch.float32)

    def overflowed(x):
        return x / 1024, x.isinf().any().to(torch.float32)

    assert judged(unscaled, unscaled, inputs).ok
    assert {verdict for _, verdict in told(judged(overflowed, unscaled, inputs))} == {"WRONG_VALUE"}


def test_whole_numbers_that_are_the_same_in_every_draw_are_told():
    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(6, 8, generator=generator).to(dtype), torch.tensor([0, 2, 5])]

    report = judged(lambda x, i: x[:, i], lambda x, i: x[:, i], inputs)
    assert report.ok
    assert "other values of i: inputs() gives the same for every seed" in report.not_judged


def test_a_kernel_that_is_made_for_one_size_says_so_by_its_shape():
    report = judged(lambda x: summed(x)[:8], summed, made((8, 32)))
    assert report.ok, report
    assert any(
        text.startswith("8 as 9 and 32 as 33: the candidate is made for the sizes given: y0 has shape (8,)")
        for text in report.not_judged
    )


def test_who_declines_all_sizes_at_once_is_tried_at_each():
    """What raises at an odd width may still be wrong at an odd number of rows, and four refusals end nothing."""

    def tiled(x, rows=lambda n: n):
        if x.shape[1] % 8:
            raise ValueError("the width has to be a multiple of 8")
        return summed(x) * (torch.arange(len(x)) < rows(len(x)))

    assert judged(tiled, summed, made((8, 32))).ok
    report = judged(lambda x: tiled(x, lambda n: n // 4 * 4 or n), summed, made((8, 32)))
    assert told(report) == {("8 as 9", "WRONG_VALUE"), ("8 as 9", "WRONG_GRADIENT")}
    assert "8 as 9 and 32 as 33: the candidate declines: ValueError: the width has to be a multiple of 8" in (
        report.not_judged
    )


def test_a_few_ragged_sizes_of_shapes_are_tried_before_other_values():
    """A slow kernel uses the seconds up, and its last tile is the first thing to look at."""
    report = judged(lambda a, b: a @ b, lambda a, b: a @ b, [(64, 32), (32, 16)])
    assert report.tried[:5] == ("as given", "64 as 65", "32 as 33", "16 as 17", "small values")
    assert "64 as 1" in report.tried[5:]


def with_labels(seed):
    generator = torch.Generator().manual_seed(seed)
    which = torch.randint(0, 10, (6,), generator=generator)
    return [torch.randn(6, 10, generator=generator), torch.nn.functional.one_hot(which, 10).float()]


def test_labels_of_one_class_a_row_stay_so():
    def like(x, y):
        return -(x.log_softmax(-1) * y).sum(-1).mean()

    def by_class(x, y):
        return torch.nn.functional.cross_entropy(x, y.argmax(-1))

    report = opproof.check(by_class, like=like, inputs=with_labels, raises=False, seconds=1e9)
    assert report.ok, report
    assert "6 as 7 and 10 as 11" in report.tried


def test_a_last_tile_of_classes_is_found_beside_labels():
    def like(x, y):
        return -(x.log_softmax(-1) * y).sum(-1).mean()

    def in_twos(x, y):
        most = x.shape[-1] // 2 * 2
        return like(x[:, :most], y[:, :most])

    report = opproof.check(in_twos, like=like, inputs=with_labels, raises=False, seconds=1e9)
    assert {report.variants[r.case] for rs in report.failures.values() for r in rs} == {"6 as 7 and 10 as 11"}


def test_a_result_of_a_size_that_nobody_gave_is_wrong():
    """Of another size than the given one it would be made for that; one window too many is none of them."""

    def like(x):
        return torch.nn.functional.avg_pool1d(x, 2, ceil_mode=True)

    def kernel(x):
        y = like(x)
        return y if x.shape[-1] % 2 == 0 else torch.cat([y, y[..., :1]], -1)

    def inputs(seed, dtype):
        return [torch.randn(2, 3, 12, generator=torch.Generator().manual_seed(seed)).to(dtype)]

    report = opproof.check(kernel, like=like, inputs=inputs, seconds=5, raises=False)
    assert set(report.failures) == {"WRONG_SHAPE"}
    assert opproof.check(like, like=like, inputs=inputs, seconds=5).ok


@pytest.mark.parametrize("size", few([2048, 5120, 32768]))
def test_a_refusal_with_a_number_leads_to_other_multiples(size):
    def mean(x):
        return x.square().mean(-1)

    def in_thousands(x, wrong=None):
        if x.shape[-1] % 1024:
            raise ValueError(f"hidden has to be a multiple of 1024, not {x.shape[-1]}")
        return mean(x) * (1.5 if x.shape[-1] == wrong else 1)

    assert judged(in_thousands, mean, made((3, 4096))).ok
    found = {name for name, _ in told(judged(lambda x: in_thousands(x, size), mean, made((3, 4096))))}
    assert found == {f"4096 as {size} (a multiple of 1024)"}
