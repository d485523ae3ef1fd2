"""The space of an operator: what its signature says, which levels go together, and what an array covers."""

import itertools
import random
from types import SimpleNamespace

import numpy as np
import pytest
from _ask import judged
from arrays import (
    COST_AT_STANDARD,
    COST_OF_LONG,
    cover_large_sizes,
    cover_long_axes,
    cover_pairs,
    goes_into_array,
    is_at_standard,
    is_of_form,
    long_axes,
    make_array,
    pairs_of,
    says_something,
    write_rows,
)

from opproof.backends.numpy import NumPy
from opproof.cases import Case, cases_of
from opproof.cases._registry import DRAWN, drawn_cases
from opproof.core.errors import OpError
from opproof.core.verdicts import Mode
from opproof.harness.reference.data import inputs_of
from opproof.harness.reference.valid_case import check_case
from opproof.harness.space.cost import SMALL, cost_of, is_computable, spaces_of
from opproof.harness.space.coverage import class_of
from opproof.harness.space.draw import Limits, _draw_sizes, apply_broadcast, draw_case, is_allowed
from opproof.harness.space.factors import SIZES, evaluate_size, forms_of
from opproof.harness.space.stream import draw_on
from opproof.reference_ops import load, names

#: Operators whose tensors no signature describes; the number only falls.
WITHOUT_SPACE = 10


def test_a_signature_names_the_axes_of_each_tensor():
    (form,) = forms_of(load("rms_norm"))
    assert [(o.name, o.axes, o.optional) for o in form.operands] == [
        ("x", ("...", "n"), False),
        ("weight", ("n",), True),
    ]


def test_a_signature_has_forms_bounds_and_parameters_that_follow():
    first, second = forms_of(load("layer_norm"))
    assert first.bindings == (("normalized_shape", "(n,)"),)
    assert second.operands[0].axes == ("...", "m", "n")
    (rope,) = forms_of(load("rope"))
    assert rope.bounds == (("2*p", 257),)


@pytest.mark.parametrize("text", ["(n", "n", "(n),(n),(n)", ""])
def test_a_malformed_signature_is_refused(text):
    op = SimpleNamespace(name="mine", signature=text or "()x", tensors=("x",), traits=(), optional=(), variadic=False)
    with pytest.raises(OpError, match=r"mine: malformed signature .*; expected one group of axes for each of"):
        forms_of(op)


def test_an_expression_of_unknown_names_is_refused():
    assert evaluate_size("groups*c-1", {"groups": 3, "c": 4}) == 11
    with pytest.raises(OpError, match=r"signature: 'q\*c' is no expression of c"):
        evaluate_size("q*c", {"c": 4})


def test_nearly_all_operators_have_a_space():
    without = [name for name in names() if not forms_of(load(name))]
    assert len([name for name in without if load(name).tensors]) <= WITHOUT_SPACE, without
    assert {p.stem for p in DRAWN.glob("*.txt")} == {*names()} - {*without}


def test_levels_that_do_not_fit_are_not_allowed():
    (space,) = spaces_of(load("softmax"))
    limits = Limits()
    assert is_allowed({"size lead0": "256", "size lead1": "1k±"} | {"size lead1": "256"}, space, limits)
    assert not is_allowed({"size lead0": "none", "size lead1": "few"}, space, limits)
    assert not is_allowed({"size lead0": "64k", "size lead1": "64k"}, space, limits)
    assert not is_allowed({"size lead0": "64k", "fill": "zeros"}, space, limits)
    vector = {f"size lead{k}": "none" if k else "few" for k in range(4)}
    assert not is_allowed({**vector, "layout x": "transposed"}, space, limits)
    assert is_allowed({**vector, "layout x": "sliced"}, space, limits)
    (space,) = spaces_of(load("logsumexp"))
    assert not is_allowed({**vector, "param dim": "(2,3)"}, space, limits)
    assert is_allowed({f"size lead{k}": "few" for k in range(4)} | {"param dim": "(2,3)"}, space, limits)


@pytest.mark.parametrize("text", ["diag[x=4096,;f32]", "conv1d[x=2x3x48;weight=196608x1x1;padding=1;groups=3;bf16]"])
def test_what_a_judge_has_no_room_for_is_not_drawn(text):
    case = Case.parse(text)
    assert check_case(case) == case
    assert not is_computable(case, load(case.op))
    assert is_computable(Case.parse("diag[x=256,;f32]"), load("diag"))


def test_matrices_of_which_one_has_no_inverse_are_no_case():
    shapes = "a=17x256x1x3x3;b=17x256x1x3x17"
    texts = (f"solve[{shapes};bf16;fill=small;layout=a:middle;needs=b]", "solve[a=2x3x3;b=2x3x17;bf16;fill=small]")
    assert [is_computable(Case.parse(text), load("solve")) for text in texts] == [False, True]


def test_what_a_constant_passes_in_sixteen_bits_says_nothing():
    texts = ("softsign[x=6,;bf16;fill=branches]", "softsign[x=6,;f32;fill=branches]")
    assert [says_something(Case.parse(text), load("softsign")) for text in texts] == [False, True]


def test_an_array_has_every_pair_that_can_be():
    (space,) = spaces_of(load("tanh"))
    cover = cover_pairs(space, SMALL)
    covered = {pair for d in cover.cases for pair in pairs_of(d.choice)}
    levels = [(name, level) for name in sorted(space.factors) for level in space.factors[name]]
    possible = {
        (one, two)
        for one, two in itertools.combinations(levels, 2)
        if one[0] != two[0] and goes_into_array(dict([one, two]), space, SMALL)
    }
    assert len(possible - covered) == cover.given_up < len(possible) / 50
    assert len(cover.cases) < len(possible) / 4


@pytest.mark.parametrize("name", ["neg", "bmm"])
def test_the_arrays_are_what_this_version_makes(name):
    """Where factors or levels change, run `python benchmarks/arrays.py`."""
    assert (DRAWN / f"{name}.txt").read_text(encoding="utf-8") == write_rows(make_array(load(name)), load(name))


def test_an_axis_is_long_in_each_form_of_an_operator():
    one, two = (space.form for space in spaces_of(load("layer_norm")))
    rows = Case.parse("layer_norm[x=1x65537x3;normalized_shape=(3);f32]")
    planes = Case.parse("layer_norm[x=65537x3x2;weight=3x2;normalized_shape=(3,2);f32]")
    assert [is_of_form(case, form) for case in (rows, planes) for form in (one, two)] == [True, False, False, True]
    last = spaces_of(load("layer_norm"))[1]
    assert {("x", -3)} in [{k for k in long_axes(c) if k[0] == "x"} for c in cover_long_axes(last, [rows])]
    assert {("x", -3)} not in [{k for k in long_axes(c) if k[0] == "x"} for c in cover_long_axes(last, [planes])]


def test_two_vectors_are_large_together_though_neither_has_many_numbers():
    vectors = spaces_of(load("outer_product"))[1]
    drawn = [[shape[0] for shape in case.shapes.values()] for case in cover_large_sizes(vectors, 2)]
    assert drawn
    assert min(map(min, drawn)) >= 255


def test_one_number_a_channel_is_a_broadcast():
    assert apply_broadcast((2, 5, 3, 4), "second channel", 1) == (5, 1, 1)
    assert apply_broadcast((2, 5, 3, 4), "second channel", 0) == (2, 5, 3, 4)
    assert apply_broadcast((7,), "second channel", 1) == ()


def test_products_of_what_is_masked_are_no_infinities():
    """Rows that see nothing: neither the query nor the key is looked at, and honest kernels multiply both."""
    tensors = "query=128x1x1x48;key=128x1x2x48;value=128x1x2x48;attn_mask=1x2;keep=1x2;sinks=1,"
    params = "is_causal=true;scale=0.05;softcap=5.0;max_bias=8.0;bf16;fill=masked;needs=key"
    text = f"scaled_dot_product_attention[{tensors};{params}]"
    assert judged(NumPy(), text, Mode.GRADIENT).verdict == "PASS"


def test_costly_cases_of_an_array_belong_to_the_level_full():
    op = load("bmm")
    standard, full = (drawn_cases("bmm", level) for level in ("standard", "full"))
    assert standard == full[: len(standard)]
    assert {is_at_standard(c, op) for c in full[len(standard) :]} == {False}
    assert {is_at_standard(c, op) for c in standard} == {True}
    assert {cost_of(c, op) > COST_AT_STANDARD for c in standard if not long_axes(c)} == {False}
    assert max(cost_of(c, op) for c in standard) <= COST_OF_LONG


def test_each_axis_is_past_sixteen_bits_in_a_case_of_the_standard_level_that_pays_for_it():
    for name in ("embedding", "conv1d", "softmax"):
        op = load(name)
        listed = [case for case in cases_of(name) if case.dtype != "f64"]
        had = {long_axes(case) for case in listed}
        assert cover_long_axes(spaces_of(op)[0], listed) == []
        assert len(had) > 3, had
    drawn = cover_long_axes(spaces_of(load("embedding"))[0], [])
    assert {("indices", -1)} in [set(long_axes(case)) for case in drawn]
    assert {is_at_standard(case, load("embedding")) for case in drawn} == {True}


@pytest.mark.parametrize("name", ["softmax", "rope", "conv2d", "matmul_quantized", "scaled_dot_product_attention"])
def test_what_is_drawn_can_be_computed(name):
    for case in itertools.islice(draw_on([load(name)], "0", lambda _: True), 12):
        check_case(case)


def test_draws_are_those_of_their_seed_and_each_comes_once():
    ops = [load(name) for name in ("softmax", "add", "sort")]
    some = list(itertools.islice(draw_on(ops, "3", lambda _: True), 60))
    assert some == list(itertools.islice(draw_on(ops, "3", lambda _: True), 60))
    assert len(set(some)) == 60
    assert some != list(itertools.islice(draw_on(ops, "4", lambda _: True), 60))
    assert {case.op for case in some[:12]} == {"softmax", "add", "sort"}


def test_integers_and_floats_of_eight_bits_have_a_space_of_their_own():
    (space,) = spaces_of(load("clamp"), of_floats=False)
    assert set(space.factors["dtype"]) == {"i8", "i16", "i32", "u8", "f8e4m3", "f8e5m2"}
    assert "wide" not in space.factors["fill"]
    assert not any(isinstance(value, float) for value in space.values.values())
    assert spaces_of(load("softmax"), of_floats=False) == []
    some = list(itertools.islice(draw_on([load("argmax")], "0", lambda _: True), 60))
    assert 4 < sum(case.dtype in ("i8", "i16", "i32", "u8") for case in some) < 24


def test_any_size_of_a_class_is_drawn_where_it_may_be():
    def sizes(level, limits):
        return {_draw_sizes({"size n": level}, random.Random(k), limits)["n"] for k in range(400)}

    for level in SIZES:
        found = sizes(level, Limits(any_size=True))
        assert found >= set(SIZES[level]) == sizes(level, Limits())
        assert {class_of(n) for n in found} == {level}
    assert sizes("64", Limits(any_size=True)) >= {56, 72, 88}  # odd numbers of eights, which no class lists
    assert len(sizes("1k±", Limits(any_size=True))) > 100


def test_levels_that_no_case_has_together_do_not_go_together():
    def goes(space, **levels):
        return is_allowed({name.replace("_", " "): level for name, level in levels.items()}, space, Limits())

    (one,) = spaces_of(load("tanh"))
    assert goes(one, size_lead0="few", size_lead2="none")
    assert not goes(one, size_lead0="none", size_lead2="few")  # without a last axis there is none before it
    assert goes(one, layout_x="transposed", size_lead2="none")
    assert not goes(one, layout_x="transposed", size_lead1="none")
    assert goes(one, layout_x="planes", size_lead0="16")
    assert not goes(one, layout_x="planes", size_lead3="none")
    (two,) = spaces_of(load("add"))
    assert goes(two, layout_a="transposed", broadcast="second scalar")
    assert goes(two, layout_b="offset", broadcast="second scalar")
    assert not goes(two, layout_b="sliced", broadcast="second scalar")
    assert not goes(two, layout_b="transposed", broadcast="second row")
    (along,) = spaces_of(load("softmax"))
    assert goes(along, param_dim="1", size_lead2="none")
    assert not goes(along, param_dim="1", size_lead1="none")


def test_draws_are_those_that_are_wanted_and_end_where_there_are_none():
    half = draw_on([load("softmax")], "0", lambda case: case.dtype == "f16")
    assert {case.dtype for case in itertools.islice(half, 10)} == {"f16"}
    assert list(draw_on([load("softmax")], "0", lambda _: False)) == []
    assert list(draw_on([load("acc")], "0", lambda _: False)) == []


def test_draws_of_one_operator_go_on_where_few_are_wanted():
    some = draw_on([load("softmax")], "0", lambda case: case.dtype == "f64" and len(case.shapes["x"]) == 4)
    assert len(list(itertools.islice(some, 40))) == 40


def test_operators_that_are_declined_are_passed_over_and_the_others_draw_the_same():
    ops, declined = [load(name) for name in ("softmax", "add", "sort")], {"softmax"}
    every = [c for c in itertools.islice(draw_on(ops, "0", lambda _: True), 90) if c.op != "softmax"]
    some = list(itertools.islice(draw_on(ops, "0", lambda _: True, declined), 60))
    assert {case.op for case in some} == {"add", "sort"}
    assert some[:40] == every[:40]


def test_a_level_decides_a_size():
    (space,) = spaces_of(load("softmax"))
    choice = {"size lead0": "1k", "size lead1": "256", "size lead2": "none", "size lead3": "none"}
    choice |= {"dtype": "f32", "fill": "normal", "param dim": "-1", "layout x": "middle"}
    case = draw_case(choice, space, random.Random(1), Limits())
    assert case is None or (case.shapes["x"][1] in (1024, 1280, 2048) and case.layout == "contiguous")


def test_tensors_may_have_the_same_values_in_memory_of_their_own():
    case = Case.parse("add[a=3x4;b=3x4;f32;fill=alike]")
    values = inputs_of(case, load("add"))
    assert np.array_equal(values["a"], values["b"])
    assert values["a"] is not values["b"]


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("cumprod[x=16x1x72;dim=-1;f32;fill=wide]", False),
        ("cumprod[x=7x9;dim=-1;f32]", True),
        ("sum[x=3x300;dim=-1;f16;fill=huge]", True),
    ],
)
def test_products_past_the_range_are_not_drawn(text, drawn):
    """float32 stays infinite where the float64 of the reference comes back."""
    case = Case.parse(text)
    assert is_computable(case, load(case.op)) is drawn
