"""Sizes and numbers one after the other: what is wrong at one in fifty of them is wrong."""

import math
from functools import partial

import pytest
from _deep import few

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.axes import generate_swept_numbers, generate_swept_sizes  # noqa: E402

judged = partial(opproof.check, seconds=10, raises=False, dtype="f32")


def wrong_at(candidate, like, inputs, **options):
    report = judged(candidate, like=like, inputs=inputs, **options)
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def of_shapes(*shapes):
    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]

    return inputs


def scaled(x, w):
    return torch.tanh(x) * w


@pytest.mark.parametrize("size", few([91, 46, 320, 640]))
def test_a_size_that_nothing_else_tries(size):
    def kernel(x, w):
        y = scaled(x, w)
        return y * 1.1 if x.shape[1] == size else y

    inputs = of_shapes((5, 24), (24,))
    name = f"24 as {size}"
    assert wrong_at(kernel, scaled, inputs) == {name}
    assert wrong_at(kernel, scaled, inputs, only=name) == {name}, "and is asked again alone"


def test_a_gradient_that_is_wrong_at_one_size():
    class Kernel(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return scaled(x, w)

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            dx = g * w * (1 - torch.tanh(x) ** 2)
            return dx * (2 if x.shape[1] == 77 else 1), (g * torch.tanh(x)).sum(0)

    assert wrong_at(Kernel.apply, scaled, of_shapes((5, 24), (24,))) == {"24 as 77"}


def test_nan_at_one_size():
    def kernel(x, w):
        return scaled(x, w) * (math.nan if x.shape[1] == 59 else 1)

    assert wrong_at(kernel, scaled, of_shapes((5, 24), (24,))) == {"24 as 59"}


def test_sizes_that_meet():
    def like(x, w):
        return torch.tanh(x @ w)

    def kernel(x, w):
        odd = x.shape[0] % 3 == 1 and x.shape[1] % 5 == 3 and w.shape[1] % 3 == 2
        return like(x, w) * (1.5 if odd else 1)

    found = wrong_at(kernel, like, of_shapes((6, 24), (24, 15)))
    assert len(found) == 1
    assert next(iter(found)).count(" as ") == 3


def test_a_number_beside_tensors():
    def like(x, width):
        places = torch.arange(width) * x.shape[-1] // width
        return x[..., places]

    def kernel(x, width):
        return like(x, width) * (1 if width != 49 else 1.2)

    assert {"width as 49"} == wrong_at(kernel, like, lambda seed, dtype: [torch.randn(3, 50).to(dtype), 28])


def test_who_is_right_is_right_at_all_of_them():
    report = judged(lambda x, w: w * torch.tanh(x), like=scaled, inputs=of_shapes((5, 24), (24,)))
    assert report.ok
    assert not [n for n in report.not_judged if " as 46" in n]


def test_who_refuses_a_size_is_not_wrong():
    def kernel(x, w):
        if x.shape[1] % 8:
            raise ValueError("the number of columns is a multiple of 8")
        return scaled(x, w)

    assert judged(kernel, like=scaled, inputs=of_shapes((5, 24), (24,))).ok


def test_what_a_reference_names_is_left():
    tensors = tuple(take_tensor(name, torch.randn(*shape).numpy()) for name, shape in (("x", (6, 24)), ("w", (24, 15))))
    names = [s.name for s in generate_swept_sizes(tensors, frozenset((24.0,)))]
    assert any(n.startswith("15 as ") for n in names)
    assert not any("24 as" in n for n in names)
    assert len(names) == len(set(names)) or len({n for n in names if " and " not in n}) > 100


def test_numbers_are_left_where_a_tensor_may_point_to_them():
    x, i = take_tensor("x", torch.randn(6, 24).numpy()), take_tensor("i", torch.randint(0, 9, (6,)).numpy())
    assert not list(generate_swept_numbers(((x, i), (x, i)), (9,), ("n",)))
    names = [v.name for v in generate_swept_numbers(((x,), (x,)), (9, 3, True, 2.5), ("n", "axis", "flag", "scale"))]
    assert set(names) == {f"n as {m}" for m in (*range(5, 9), *range(10, 19))}


def test_what_is_little_in_16_bits_and_much_in_32():
    def kernel(x, w):
        return scaled(x, w) * (1 + 2.0**-9 * (x.shape[1] == 46))

    assert wrong_at(kernel, scaled, of_shapes((5, 24), (24,))) == {"24 as 46"}


def test_sizes_past_usual_limits():
    def kernel(x, w):
        wide = x.shape[1] > 2048 and x.shape[1] % 4
        return scaled(x, w) * (1 + 2.0**-10 * bool(wide))

    assert wrong_at(kernel, scaled, of_shapes((5, 24), (24,))) & {"24 as 2051", "24 as 4099"}


def _with_options(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(6, 24, generator=generator).to(dtype), torch.rand(24, generator=generator).to(dtype), seed % 2]


def test_a_layout_that_another_option_reads_as_contiguous():
    def like(x, w, squared):
        return torch.tanh(x * x if squared else x) * w

    def kernel(x, w, squared):
        if squared and not x.is_contiguous():
            x = x.as_strided(x.shape, (x.shape[1], 1)) if x.untyped_storage().nbytes() >= 4 * x.numel() else x
        return like(x, w, squared)

    found = wrong_at(kernel, like, _with_options)
    assert found
    assert all(name.startswith("arguments of seed 1, ") for name in found)


def test_a_derivative_that_another_option_leaves_out():
    class Kernel(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w, squared):
            ctx.save_for_backward(x, w)
            ctx.squared = squared
            return torch.tanh(x * x if squared else x) * w

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            y = torch.tanh(x * x if ctx.squared else x)
            slope = 2 * x if ctx.squared else 1
            left = ctx.squared and not ctx.needs_input_grad[0]
            return g * w * (1 - y * y) * slope, (g * (x if left else y)).sum(0), None

    def like(x, w, squared):
        return torch.tanh(x * x if squared else x) * w

    report = judged(Kernel.apply, like=like, inputs=_with_options)
    assert "where the gradient of w alone is asked for" in str(report)
    assert "arguments of seed 1" in str(report)


def test_what_is_kept_by_one_number_of_two():
    known = {}

    def like(x, step, beta):
        return x / (1 - beta**step)

    def kernel(x, step, beta):
        if known.get("step") != step:
            known.update(step=step, power=beta**step)
        return x / (1 - known["power"])

    def inputs(seed, dtype):
        return [torch.randn(5, 24, generator=torch.Generator().manual_seed(seed)).to(dtype), seed + 1, 0.9 - seed / 20]

    found = wrong_at(kernel, like, inputs)
    assert any(name.startswith(("step of seed", "beta of seed", "seed 0 with")) for name in found)


def test_sizes_of_draws_in_which_others_are_equal():
    def like(q, k):
        return torch.softmax(q @ k.T, -1)

    def kernel(q, k):
        return like(q, k) * (1 if q.shape[0] >= k.shape[0] or k.shape[0] < 70 else 1.1)

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        rows = 12 if seed % 2 else 40
        return [torch.randn(n, 16, generator=generator).to(dtype) for n in (rows, 40)]

    found = wrong_at(kernel, like, inputs)
    assert found
    assert all(name.startswith("seed 1 with 40 as ") for name in found)


def test_a_draw_of_which_there_is_one_in_fifty():
    def like(x, window):
        return x * window

    def kernel(x, window):
        return like(x, window) if window else x

    def inputs(seed, dtype):
        return [torch.randn(5, 24, generator=torch.Generator().manual_seed(seed)).to(dtype), float((seed * 7 + 3) % 53)]

    (name,) = wrong_at(kernel, like, inputs)
    assert name == "draw of seed 45"
    assert wrong_at(kernel, like, inputs, only=name) == {name}
