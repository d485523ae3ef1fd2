"""What errs where two properties meet: pairs of sizes, layouts, values and options, of which none has a rule."""

from __future__ import annotations

import math
from functools import partial
from itertools import islice

import pytest
from _deep import deep

torch = pytest.importorskip("torch")

from arrays import pairs_of  # noqa: E402

import opproof  # noqa: E402
from opproof.harness.check import search  # noqa: E402
from opproof.harness.check.call.reference import Reference  # noqa: E402
from opproof.harness.check.call.subject import Arguments, Form  # noqa: E402
from opproof.harness.check.covering import ArrayOfCheck  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.array import CallSpace  # noqa: E402
from opproof.harness.check.variants.axes import MAX_SIZE, SizeAxis  # noqa: E402
from opproof.harness.check.variants.variant import Variant  # noqa: E402

F = torch.nn.functional
judged = partial(opproof.check, seconds=50, raises=False)  # other tests are at work beside these


def drawn(*shapes):
    """A factory of normal numbers in these shapes."""

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]

    return inputs


def wrong_where(like, meets):
    """`like`, but where a condition of its arguments holds."""

    def kernel(*arguments):
        y = like(*arguments)
        return y * 1.5 if meets(*arguments) else y

    return kernel


def softmax(x):
    return torch.softmax(x, -1)


def rms_norm(x, w):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w


def sums(x):
    return x.sum(-1)


def layer_norm(x):
    return F.layer_norm(x, x.shape[-1:])


def gelu(x):
    return F.gelu(x)


def cumulated(x):
    return x.cumsum(-1)


def biased(x, b):
    return torch.relu(x + b)


def means(x):
    return x.mean(-1)


def attention(q, k, v):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v


def in_blocks(x, block):
    """Each number by the largest of its block, of which the last may be short."""
    wide = F.pad(x, (0, -x.shape[-1] % block)).reshape(*x.shape[:-1], -1, block)
    return (wide / wide.abs().amax(-1, keepdim=True).clamp(min=1e-3)).flatten(-2)[..., : x.shape[-1]]


def gathered(table, index):
    return torch.tanh(table)[index]


def of_a_table(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(20, 12, generator=generator).to(dtype), torch.randint(20, (30,), generator=generator)]


def of_blocks(seed, dtype):
    return [*drawn((6, 64))(seed, dtype), 16]


def has_gaps(x):
    return x.dim() > 1 and x.stride(-1) == 1 and x.stride(-2) > x.shape[-1]


def repeats_in_a_column(table, index):
    return table.shape[1] == 1 and len(index.unique()) < len(index) // 3


def is_stretched(x):
    return x.stride(0) == 0 and x.shape[0] > 1


def is_a_view_of_heads(x):
    return x.stride(1) < x.stride(2) and x.shape[2] > 1


CONJUNCTIONS = {
    "long rows, many of them": (
        softmax, drawn((12, 40)), lambda x: x.shape[1] > 1024 and x.shape[0] % 256 == 0, {},
    ),
    "a tall factor of 16 bits": (
        torch.matmul, drawn((64, 64), (64, 64)), lambda a, b: a.shape[0] >= 2 * a.shape[1] > 64, {"dtype": "bf16"},
    ),
    "gaps between rows of an odd width": (
        rms_norm, drawn((6, 48), (48,)), lambda x, w: has_gaps(x) and x.shape[-1] % 2 == 1, {},
    ),
    "one row for all, far from zero": (sums, drawn((8, 32)), lambda x: is_stretched(x) and x.min() > 2, {}),
    "repeated indices of one column": (gathered, of_a_table, repeats_in_a_column, {}),
    "large blocks that do not divide": (
        in_blocks, of_blocks, lambda x, block: block == 64 and x.shape[-1] % block != 0, {},
    ),
    "80 numbers a head, heads inside": (
        attention, drawn(*[(2, 4, 16, 8)] * 3), lambda q, k, v: q.shape[-1] == 80 and is_a_view_of_heads(q), {},
    ),
    "columns of a square, the first transposed": (
        torch.matmul, drawn((32, 32), (32, 32)), lambda a, b: b.shape[1] > 256 and a.stride(0) < a.stride(1), {},
    ),
    "more rows than a grid has, and more than one column": (
        rms_norm, drawn((12, 16), (16,)), lambda x, w: x.shape[0] > 65535 and x.shape[1] > 1, {},
    ),
    "a row in steps, where the other is one number": (
        torch.mul, drawn((8, 24), (24,)), lambda x, w: x.stride(-1) == 2 and x.shape[1] == 1 and w.shape == (1,), {},
    ),
    "long rows, not a multiple of four of them": (
        layer_norm, drawn((8, 48)), lambda x: x.shape[1] > 512 and x.shape[0] % 4 == 3, {},
    ),
    "large numbers of 16 bits in odd rows": (
        softmax, drawn((8, 32)), lambda x: x.abs().max() > 50 and x.shape[1] % 2 == 1, {"dtype": "bf16"},
    ),
    "negative numbers, transposed": (gelu, drawn((6, 40)), lambda x: x.stride(0) < x.stride(1) and x.max() < 0, {}),
    "an odd number of terms, with gaps": (
        torch.matmul, drawn((16, 32), (32, 16)), lambda a, b: a.shape[1] % 2 == 1 and has_gaps(a), {},
    ),
    "long rows of one number": (
        cumulated, drawn((6, 32)), lambda x: x.shape[1] > 256 and bool((x[:, 1:] == x[:, :-1]).any()), {},
    ),
    "the last index of a wide table": (
        gathered, of_a_table, lambda t, i: t.shape[1] > 1024 and bool((i == t.shape[0] - 1).all()), {},
    ),
    "a large bias where rows are transposed": (
        biased, drawn((8, 24), (24,)), lambda x, b: x.stride(0) < x.stride(1) and b.abs().max() > 50, {},
    ),
    "one row of many columns": (means, drawn((4, 6, 24)), lambda x: x.shape[1] == 1 and x.shape[2] > 128, {}),
    "many more of one, with gaps in the other": (
        torch.cdist, drawn((12, 8), (10, 8)), lambda x, y: x.shape[0] > 4 * y.shape[0] and has_gaps(y), {},
    ),
    "small blocks, transposed": (in_blocks, of_blocks, lambda x, block: block < 16 and x.stride(0) < x.stride(1), {}),
}  # fmt: skip


#: One of values with a layout, one of an option with a size, one of two sizes; a layout with a size below, by its name.
TRIED = ("one row for all, far from zero", "large blocks that do not divide", "a tall factor of 16 bits")


#: Of the time, what an array may take in these tests: on a busy machine the usual share ends before the array does.
AMPLE_TIME_SHARE = 0.8


@pytest.mark.parametrize("name", [name if name in TRIED else deep(name) for name in CONJUNCTIONS])
def test_two_properties_that_meet(name, monkeypatch):
    monkeypatch.setattr(search, "_ARRAY_TIME_SHARE", AMPLE_TIME_SHARE)
    like, inputs, meets, options = CONJUNCTIONS[name]
    report = judged(wrong_where(like, meets), like=like, inputs=inputs, **options)
    assert report.failures, report


def test_who_is_right_is_right_in_the_array_too():
    report = judged(lambda x, w: w * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)), like=rms_norm,
                    inputs=drawn((6, 48), (48,)), seconds=10)  # fmt: skip
    assert report.ok, report


def test_the_variant_is_asked_again_by_its_name():
    like, inputs, meets, _ = CONJUNCTIONS["gaps between rows of an odd width"]
    kernel = wrong_where(like, meets)
    (name,) = named(judged(kernel, like=like, inputs=inputs))
    assert "gapped" in name
    assert named(judged(kernel, like=like, inputs=inputs, only=name)) == {name}


def named(report):
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def test_shapes_have_an_array_as_a_factory_has():
    kernel = wrong_where(torch.matmul, lambda a, b: b.shape[1] > 2 * a.shape[0] > 2 and b.stride(0) < b.stride(1))
    (name,) = named(judged(kernel, like=torch.matmul, inputs=[(16, 16), (16, 16)]))
    assert "transposed" in name


def test_more_seconds_draw_on_at_random_and_the_same_for_the_same_seed():
    pair = tuple((take_tensor("x", torch.randn(8, 32).numpy()),) for _ in range(2))
    space = CallSpace([pair], [()], [SizeAxis("8", 8, ((0, 0),)), SizeAxis("32", 32, ((0, 1),))])
    some = [list(islice(space.draw_on(seed), 200)) for seed in (1, 1, 2)]
    assert some[0] == some[1] != some[2]
    assert len({space.name_of(choice) for choice in some[0]}) > 150
    assert all(map(space.allows, some[0]))


def test_gradients_are_asked_of_every_few_and_what_was_not_spent_is_the_array_s(monkeypatch):
    from torch.utils._pytree import tree_flatten

    side = Reference(torch.tanh, Form(Arguments((None,), (0,), tree_flatten((0,))[1]), 1))
    some = [Variant("", "normal", "contiguous", (take_tensor("x", torch.randn(3, 5)),), ()) for _ in range(9)]
    asked = []

    def ask(request):
        asked.append(bool(request.cotangents))
        return side.call_native(request)

    assert not list(search.find_differing(side, ask, some, CheckOptions(), 60.0, 4))
    assert asked == [True, False, False, False] * 2 + [True]
    given = []
    monkeypatch.setattr(search, "find_differing", lambda *how: given.append(how[4:]) or ())
    judged(softmax, like=softmax, inputs=drawn((3, 5)), seconds=12)
    assert given[-1][1:] == (search._ARRAY_GRADIENT_STEP,)
    assert given[-1][0] > 2 * search._ARRAY_TIME_SHARE * 12, "the others took nothing"


def test_the_array_has_every_pair_that_can_be():
    pair = tuple((take_tensor("x", torch.randn(8, 32).numpy()),) for _ in range(2))
    space = CallSpace([pair], [()], [SizeAxis("8", 8, ((0, 0),)), SizeAxis("32", 32, ((0, 1),))])
    covered = {frozenset(two) for choice in space.cover(0) for two in pairs_of(choice)}
    fills, layouts = (space.factors[name] for name in ("fill", "layout"))
    assert all(frozenset((("fill", a), ("layout", b))) in covered for a in fills for b in layouts)
    sizes = [space.sizes["size 0"], space.sizes["size 1"]]
    classes = {(sizes[0][c["size 0"]][0], sizes[1][c["size 1"]][0]) for c in space.cover(0)}
    assert {("256", "1k±"), ("1k±", "256"), ("64k", "few"), ("few", "64k±"), ("1", "1")} <= classes


def axes(like, candidate=None):
    """The axes of 12 rows of 6 numbers for a reference and a candidate: a size, whether work is squared, the most."""
    from torch.utils._pytree import tree_flatten

    def of_one(function):
        return Reference(function, Form(Arguments((None,), (0,), tree_flatten((0,))[1]), 1))

    pair = [(take_tensor("x", torch.randn(12, 6).numpy()),) for _ in range(2)]
    inputs, ask = CallSpace([tuple(pair)], [()], ()), of_one(candidate or like).call_native
    array = ArrayOfCheck(of_one(like), ask, CheckOptions(), inputs, frozenset(), sized=True, by_shape=True)
    return [(axis.old, axis.square, axis.most) for axis in array.space.axes]


def test_sizes_that_follow_one_another_make_no_tensor_of_gigabytes():
    shapes = ((2, 3, 5, 8), (5, 4))
    draws = [tuple(take_tensor(f"x{i}", torch.randn(s).numpy()) for i, s in enumerate(shapes)) for _ in range(2)]
    axis = SizeAxis("2", 2, ((0, 0),), related={(i, a): n for i, s in enumerate(shapes) for a, n in enumerate(s)})
    space = CallSpace([tuple(draws)], [(), ()], ())
    assert [t.shape for t in space.resize(axis.resize(6), {})[0]] == [(6, 7, 13, 24), (13, 12)]
    assert math.prod(axis.resize(128)[0, a] for a in range(4)) > 2**30, "a tensor of 17 GB"
    assert space.resize(axis.resize(128), {}) is None


def test_how_work_grows_along_an_axis_is_measured():
    assert axes(lambda x: x * 2) == [(12, False, MAX_SIZE), (6, False, MAX_SIZE)]
    pairs = axes(lambda x: torch.tanh(x[:, None] - x[None]).sum(1))
    assert pairs == [(12, True, MAX_SIZE), (6, False, MAX_SIZE)], "as many pairs as 66,051 rows have fill the memory"
    one_by_one = axes(lambda x: torch.stack([row.sin() for row in x]))
    assert one_by_one[0][2] < 1000, "so many operations take seconds"
    by_product = axes(lambda x: x.cumsum(0), lambda x: torch.ones(len(x), len(x)).tril() @ x)
    assert [square for _, square, _ in by_product] == [True, False]
