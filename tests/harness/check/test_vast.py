"""Axes of tens of thousands: what is counted in 16 bits wraps there; and nobody is asked who fills the memory."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.verdicts import Verdict  # noqa: E402
from opproof.harness.check.call.exchange import Reply  # noqa: E402
from opproof.harness.check.call.reference import Reference  # noqa: E402
from opproof.harness.check.call.subject import Arguments, Form  # noqa: E402
from opproof.harness.check.covering import ArrayOfCheck  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.array import CallSpace  # noqa: E402
from opproof.harness.check.variants.axes import MAX_SIZE  # noqa: E402
from opproof.harness.check.variants.sizes import fits, make_rare_size  # noqa: E402
from opproof.harness.check.variants.variant import Variant  # noqa: E402

judged = partial(opproof.check, raises=False, dtype="f32", isolate=True, seconds=50)


def picked(table, labels):
    return torch.tanh(table)[labels]


def picked_by_int16(table, labels):
    return torch.tanh(table)[labels.to(torch.int16).long()]


def of_a_table(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(60, 5, generator=generator).to(dtype), torch.randint(0, 60, (24,), generator=generator)]


def doubled(x):
    return torch.sinh(x) * 2


def doubled_by_programs(x):
    """One a row, of which a grid has 65,535."""
    y = doubled(x)
    return torch.cat([y[:65535], torch.zeros_like(y[65535:])])


def refusing_large_rows(x):
    if len(x) > 65535:
        raise ValueError("at most 65535 rows")
    return doubled(x)


def of_rows(seed, dtype):
    return [torch.randn(12, 6, generator=torch.Generator().manual_seed(seed)).to(dtype)]


def found_by(candidate, like, inputs):
    report = judged(candidate, like=like, inputs=inputs)
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def test_labels_past_what_an_int16_holds():
    (name,) = found_by(picked_by_int16, picked, of_a_table)
    assert name.startswith("60 as 6")
    assert found_by(picked, picked, of_a_table) == set()


def test_more_rows_than_a_grid_has_programs():
    (name,) = found_by(doubled_by_programs, doubled, of_rows)
    assert name.startswith("12 as 6")
    assert found_by(refusing_large_rows, doubled, of_rows) == set()


def drawn(inputs, seed=0):
    names = ("table", "labels") if inputs is of_a_table else ("x",)
    return tuple(take_tensor(name, x.numpy()) for name, x in zip(names, inputs(seed, torch.float32), strict=True))


def of_one(function):
    """A reference of one tensor."""
    from torch.utils._pytree import tree_flatten

    return Reference(function, Form(Arguments((None,), (0,), tree_flatten((0,))[1]), 1))


def axes(function, candidate=None):
    """The axes of `of_rows` for a reference and a candidate of PyTorch: a size, whether work is squared, the most."""
    side, other = of_one(function), of_one(candidate or function)
    inputs = CallSpace([(drawn(of_rows), drawn(of_rows, 1))], [()], ())
    array = ArrayOfCheck(side, other.call_native, CheckOptions(), inputs, frozenset(), sized=True, by_shape=True)
    return [(axis.old, axis.square, axis.most) for axis in array.space.axes]


def test_how_long_an_axis_is_borne_is_measured():
    assert axes(doubled) == [(12, False, MAX_SIZE), (6, False, MAX_SIZE)]
    pairs = axes(lambda x: torch.tanh(x[:, None] - x[None]).sum(1))
    assert pairs == [(12, True, MAX_SIZE), (6, False, MAX_SIZE)], "as many pairs as 66,051 rows have fill the memory"
    one_by_one = axes(lambda x: torch.stack([row.sin() for row in x]))
    assert one_by_one[0][2] < 1000, "so many operations take seconds"


def test_what_a_candidate_makes_of_an_axis_counts_too():
    by_product = axes(lambda x: x.cumsum(0), lambda x: torch.ones(len(x), len(x)).tril() @ x)
    assert [square for _, square, _ in by_product] == [True, False]


def test_who_has_no_time_or_memory_left_there_is_not_wrong():
    from opproof.harness.check.search import find_differing

    pair = drawn(of_rows), drawn(of_rows, 1)
    some = [Variant("12 as 65536", "normal", "contiguous", *pair, rare=True, vast=True)]
    for cause, told in ((Verdict.TIMEOUT, 0), (Verdict.OUT_OF_MEMORY, 0), (Verdict.CRASH, 1)):
        answer = Reply(error="it ended", cause=cause)
        assert len(list(find_differing(of_one(doubled), lambda _, a=answer: a, some, CheckOptions(), 60.0))) == told


def test_an_axis_is_shorter_only_where_nothing_points_to_its_places():
    x, i = take_tensor("x", torch.randn(24, 60).numpy()), take_tensor("i", torch.full((24,), 59).numpy())
    size = make_rare_size({24: 5}, {24: [(0, 0), (1, 0)]})
    assert fits((x, i), (x, i), size)
    assert not fits((x, i.holding(i.values - 40)), (x, i), size)
