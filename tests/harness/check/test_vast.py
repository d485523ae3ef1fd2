"""Axes of tens of thousands: what is counted in 16 bits wraps there; and nobody is asked who fills the memory."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.verdicts import Verdict  # noqa: E402
from opproof.harness.check.call.exchange import Reply  # noqa: E402
from opproof.harness.check.call.reference import Reference  # noqa: E402
from opproof.harness.check.call.subject import Arguments, Form  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.sizes import fits, make_rare_size  # noqa: E402
from opproof.harness.check.variants.variant import Variant  # noqa: E402

judged = partial(opproof.check, raises=False, dtype="f32", isolate=True)


def picked(table, labels):
    return torch.tanh(table)[labels]


def picked_by_int16(table, labels):
    return torch.tanh(table)[labels.to(torch.int16).long()]


def of_a_table(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(60, 5, generator=generator).to(dtype), torch.randint(0, 60, (24,), generator=generator)]


def doubled(x):
    return torch.sinh(x) * 2


def of_rows(seed, dtype):
    return [torch.randn(12, 6, generator=torch.Generator().manual_seed(seed)).to(dtype)]


def names_of(report):
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def test_labels_past_what_an_int16_holds():
    name = "60 as 65537 and 24 as 15, gapped, labels in reverse order"
    assert names_of(judged(picked_by_int16, like=picked, inputs=of_a_table, only=name)) == {name}


def drawn(inputs, seed=0):
    names = ("table", "labels") if inputs is of_a_table else ("x",)
    return tuple(take_tensor(name, x.numpy()) for name, x in zip(names, inputs(seed, torch.float32), strict=True))


def of_one(function):
    """A reference of one tensor."""
    from torch.utils._pytree import tree_flatten

    return Reference(function, Form(Arguments((None,), (0,), tree_flatten((0,))[1]), 1))


def test_who_has_no_time_or_memory_left_there_is_not_wrong():
    from opproof.harness.check.search import find_differing

    some = [Variant("long", "normal", "contiguous", drawn(of_rows), drawn(of_rows, 1), rare=True, vast=True)]
    for cause, told in ((Verdict.TIMEOUT, 0), (Verdict.OUT_OF_MEMORY, 0), (Verdict.CRASH, 1)):
        answer = Reply(error="it ended", cause=cause)
        assert len(list(find_differing(of_one(doubled), lambda _, a=answer: a, some, CheckOptions(), 60.0))) == told


def test_an_axis_shrinks_only_where_nothing_points_to_its_places():
    x, i = take_tensor("x", torch.randn(24, 60).numpy()), take_tensor("i", torch.full((24,), 59).numpy())
    size = make_rare_size({24: 5}, {24: [(0, 0), (1, 0)]})
    assert fits((x, i), (x, i), size)
    assert not fits((x, i.holding(i.values - 40)), (x, i), size)
