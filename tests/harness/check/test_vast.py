"""Axes of tens of thousands: what is counted in 16 bits wraps there; and nobody is asked who fills the memory."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402
from opproof.core.verdicts import Verdict  # noqa: E402
from opproof.harness.check.call.exchange import Reply  # noqa: E402
from opproof.harness.check.call.reference import Reference  # noqa: E402
from opproof.harness.check.call.subject import Arguments, Form  # noqa: E402
from opproof.harness.check.judge.budget import can_bear  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.axes import generate_long_axes  # noqa: E402
from opproof.harness.check.variants.generate import generate_long_axis  # noqa: E402
from opproof.harness.check.variants.sizes import fits, make_rare_size  # noqa: E402

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


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Other tests are at work beside these."""
    monkeypatch.setattr("opproof.harness.check.judge.budget._MAX_CANDIDATE_SECONDS", 1e6)


def names_of(report):
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def no_variant():
    """A block in which nothing is to be judged by the name that is asked for: the candidate is right, or refuses."""
    return pytest.raises(UsageError, match="is no variant")


def test_labels_past_what_an_int16_holds():
    name = "60 as 66051, labels up to its end"
    assert names_of(judged(picked_by_int16, like=picked, inputs=of_a_table, only=name)) == {name}
    with no_variant():
        judged(picked, like=picked, inputs=of_a_table, only=name)


def test_more_rows_than_a_grid_has_programs():
    assert names_of(judged(doubled_by_programs, like=doubled, inputs=of_rows, only="12 as 66051")) == {"12 as 66051"}
    with no_variant():
        judged(refusing_large_rows, like=doubled, inputs=of_rows, only="12 as 66051")


def drawn(inputs, seed=0):
    names = ("table", "labels") if inputs is of_a_table else ("x",)
    return tuple(take_tensor(name, x.numpy()) for name, x in zip(names, inputs(seed, torch.float32), strict=True))


def of_one(function):
    """A reference of one tensor."""
    from torch.utils._pytree import tree_flatten

    return Reference(function, Form(Arguments((None,), (0,), tree_flatten((0,))[1]), 1))


def lengths(function, answer=lambda _: Reply()):
    """How long the axes of `of_rows` may be for a reference, and a candidate that answers so."""
    pair, bears = (drawn(of_rows), drawn(of_rows, 1)), partial(can_bear, of_one(function), answer, CheckOptions())
    return [v.name for v in generate_long_axis(pair, [()], frozenset(), bears, lambda _: True)]


def test_how_long_an_axis_is_borne_is_measured():
    assert lengths(doubled) == ["12 as 66051", "6 as 66051"]
    of_all_pairs = lengths(lambda x: torch.tanh(x[:, None] - x[None]).sum(1))
    assert of_all_pairs == ["6 as 66051 and 12 as 5"], (
        "144 pairs of rows are nothing, as many as 66,051 rows have fill the memory"
    )
    one_by_one = lengths(lambda x: torch.stack([row.sin() for row in x]))
    assert one_by_one == ["6 as 66051"], "so many operations take seconds"


def test_a_candidate_that_is_slow_is_not_asked(monkeypatch):
    monkeypatch.setattr("opproof.harness.check.judge.budget._MAX_CANDIDATE_SECONDS", 0.0)
    assert not lengths(doubled)


def test_who_has_no_time_or_memory_left_there_is_not_wrong():
    from opproof.harness.check.search import find_differing

    pair = drawn(of_rows), drawn(of_rows, 1)
    some = list(generate_long_axis(pair, [()], frozenset(), lambda *_: True, lambda _: True))
    for cause, told in ((Verdict.TIMEOUT, 0), (Verdict.OUT_OF_MEMORY, 0), (Verdict.CRASH, len(some))):
        answer = Reply(error="it ended", cause=cause)
        assert len(list(find_differing(of_one(doubled), lambda _, a=answer: a, some, CheckOptions(), 60.0))) == told


def test_other_axes_shrink_only_where_nothing_points_to_their_places():
    given = drawn(of_a_table)
    (_, of_places), *_ = generate_long_axes(given, frozenset())
    assert [m for m, _ in of_places][:2] == [66051, 66051]
    x, i = take_tensor("x", torch.randn(24, 60).numpy()), take_tensor("i", torch.full((24,), 59).numpy())
    size = make_rare_size({24: 5}, {24: [(0, 0), (1, 0)]})
    assert fits((x, i), (x, i), size)
    assert not fits((x, i.holding(i.values - 40)), (x, i), size)
