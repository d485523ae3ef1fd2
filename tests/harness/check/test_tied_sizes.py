"""Sizes that stand in a relation: a state of one place less than a window has taps, a gate twice as wide as a value."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.tensors import CallTensor  # noqa: E402
from opproof.harness.check.variants.sizes import find_parted, keep_relations, list_sizes  # noqa: E402

judged = partial(opproof.check, gradients=False, raises=False, dtype="f32")
SHAPES = [(12,), (12, 3), (12, 4)]


def made(*shapes):
    """A factory of tensors of these shapes."""

    def inputs(seed):
        g = torch.Generator().manual_seed(seed)
        return [torch.randn(s, generator=g) for s in shapes]

    return inputs


def step(x, state, weight):
    """One step of a causal convolution, and its next state: the last places, all where there are none but one."""
    window, taps = torch.cat([state, x[:, None]], 1), weight.shape[1]
    y = sum(window[:, i - taps] * weight[:, i] for i in range(taps)) if taps <= window.shape[1] else window @ weight
    return y, window[:, -(taps - 1) :]


def fused(x, state, weight):
    """The same; of one tap it has no state."""
    window, taps = torch.cat([state, x[:, None]], 1), weight.shape[1]
    return torch.einsum("cw,cw->c", window[:, -taps:], weight), window[:, window.shape[1] - taps + 1 :]


@pytest.mark.parametrize("inputs", [SHAPES, made(*SHAPES)], ids=["shapes", "factory"])
def test_a_state_and_its_taps_are_changed_together(inputs):
    report = judged(fused, like=step, inputs=inputs)
    assert report.ok, report
    assert {"3 as 5 and 4 as 6", "4 as 5 and 3 as 4", "12 as 13 and 4 as 5 and 3 as 4"} & {*report.tried}


def test_another_shape_where_the_relation_is_broken_is_told():
    report = judged(fused, like=step, inputs=SHAPES, only="4 as 1")
    assert not report.failures
    (said,) = [text for text in report.not_judged if text.startswith("4 as 1")]
    assert "4 and 3 stand in a relation as given, and do not there: y1 has shape (12, 0): expected (12, 4)" in said


def test_what_is_wrong_of_six_taps_is_found():
    def six(x, state, weight):
        y, after = fused(x, state, weight)
        return y * (1.01 if weight.shape[1] > 5 else 1), after

    report = judged(six, like=step, inputs=SHAPES)
    assert all(report.variants[r.case] == "4 as 7 and 3 as 6" for r in report.failures["WRONG_VALUE"])


def outer(x, y):
    return x[:, None] * y


@pytest.mark.parametrize("inputs", [[(8,), (4,)], made((8,), (4,))], ids=["shapes", "factory"])
def test_sizes_that_are_4_and_8_by_chance_are_changed_alone_too(inputs):
    """And what is wrong at one of them alone is found, its values and its shape."""

    def of_five(x, y):
        return outer(x, y) * (1 + 0.01 * (y.shape[0] == 5) * (x.shape[0] != 10))

    def cut(x, y):
        return outer(x, y)[:, :6]

    report = judged(outer, like=outer, inputs=inputs)
    assert report.ok
    assert any(name in report.tried for name in ("4 as 5", "8 as 9 and 4 as 5"))
    assert judged(of_five, like=outer, inputs=inputs).failures.keys() == {"WRONG_VALUE"}
    if isinstance(inputs, list):  # of a factory's it is made for these sizes
        assert judged(cut, like=outer, inputs=[(8,), (6,)]).failures.keys() == {"WRONG_SHAPE"}


def test_a_shape_that_is_wrong_beside_a_false_relation_is_found():
    """Alone the size tells nothing, for it is twice another as given; together with that it does."""
    report = judged(lambda x, y: outer(x, y)[:8], like=outer, inputs=[(8,), (4,)])
    assert {report.variants[r.case] for r in report.failures["WRONG_SHAPE"]} == {"8 as 10 and 4 as 5"}
    assert any("8 and 4 stand in a relation as given" in text for text in report.not_judged)


@pytest.mark.parametrize(
    ("new", "among", "together"),
    [
        ({4: 6}, {3, 4}, {4: 6, 3: 5}),
        ({4: 5}, {4, 5, 12}, {4: 5, 5: 6}),
        ({16: 18}, {8, 16, 32}, {16: 18, 8: 9, 32: 36}),
        ({16: 17}, {8, 16, 32}, {16: 18, 8: 9, 32: 36}),
        ({4: 5}, {2, 3, 4}, {4: 5, 3: 4, 2: 3}),
        ({8: 9}, {3, 6, 7, 8}, {8: 10, 7: 9, 6: 8, 3: 4}),
        ({4: 6}, {3, 4, 8}, {4: 6, 3: 5, 8: 12}),
        ({4: 0}, {3, 4}, {}),
        ({4: 5}, {4, 12}, {}),
        ({2: 3}, {1, 2}, {}),
        ({4: 7}, {3, 4, 6}, {4: 7, 3: 6, 6: 12}),
    ],
)
def test_which_sizes_go_along(new, among, together):
    assert keep_relations(new, among) == together


def test_which_relations_are_broken():
    given = [(12,), (12, 3), (12, 4)]
    assert find_parted(given, [(13,), (13, 3), (13, 4)]) is None
    assert find_parted(given, [(12,), (12, 5), (12, 6)]) is None
    assert find_parted(given, [(12,), (12, 3), (12, 1)]) == (4, 3)
    assert find_parted([(8, 16)], [(9, 16)]) == (16, 8)
    assert find_parted([(8, 16)], [(9, 18)]) is None
    assert find_parted([(1, 2)], [(1, 3)]) is None


def test_a_factorys_sizes_have_it_too():
    some = [
        CallTensor(n, np.random.default_rng(0).standard_normal(s), "float32")
        for n, s in zip("xsw", SHAPES, strict=True)
    ]
    found = {s.name: s for s in list_sizes(some, frozenset())}
    one = found["4 as 5 and 3 as 4"]
    assert one.new == {(2, 1): 5, (1, 1): 4}
    assert one.group == found["4 as 5"].group
