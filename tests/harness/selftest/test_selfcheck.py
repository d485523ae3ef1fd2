"""The references prove each other, and a wrong formula anywhere is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from _deep import few

from opproof.cases import Case
from opproof.cases._registry import listed_cases
from opproof.harness.selftest.selfcheck import cases_to_check, check
from opproof.reference_ops import load, names

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


@pytest.mark.parametrize("every", few([4, 1]))
@pytest.mark.parametrize("name", names())
def test_references_agree(name, every):
    """In the first rows of an operator, and in every fourth of the others, which are other numbers and sizes."""
    op, cases = load(name), cases_to_check(listed_cases(name))
    found = [d for case in (*cases[:8], *cases[8::every]) for d in check(case, op, torch)]
    assert not found, "\n".join(f"{d.check}: {d.case}: {d.message}" for d in found[:5])


def checks(op, case):
    return {d.check for d in check(Case.parse(case), op, torch)}


BREAKS = {
    "doubled": lambda d: 2 * d,
    "sign": lambda d: -d,
    "zeros": lambda d: 0 * d,
    "slightly scaled": lambda d: d * (1 + 1e-6),
    "one element": lambda d: np.where(np.arange(d.size).reshape(d.shape) == d.size - 1, d * 1.001, d),
}


@pytest.mark.parametrize("defect", BREAKS)
@pytest.mark.parametrize(
    "case",
    ["tanh[x=5x7;f64]", "softmax[x=5x7;dim=-1;f64]", "gelu[x=5x7;approximate=tanh;f64]", "mul[a=1x3;b=4x3;f64]"],
)
def test_a_wrong_vjp_is_noticed_three_times(case, defect):
    op = load(case.partition("[")[0])

    def broken(*args, **params):
        found = op.vjp(*args, **params)
        return tuple(map(BREAKS[defect], found)) if isinstance(found, tuple) else BREAKS[defect](found)

    found = checks(replace(op, vjp=broken), case)
    assert {"autograd", "complex"} <= found
    if defect not in ("slightly scaled", "one element"):
        assert "finite" in found


def test_a_wrong_vjp_is_noticed_without_pytorch():
    op = load("relu")
    broken = replace(op, torch=None, vjp=lambda g, y, x: g)
    assert checks(broken, "relu[x=5x7;f64]") == {"finite"}


def test_a_wrong_forward_is_noticed():
    op = load("rms_norm")
    broken = replace(op, forward=lambda *args, **params: op.forward(*args, **params) * (1 + 1e-9))
    assert "values" in checks(broken, "rms_norm[x=3x5;f64]")


def test_a_wrong_convention_at_a_kink_is_noticed():
    op = load("relu")
    broken = replace(op, vjp=lambda g, y, x: np.where(x >= 0, g, 0))
    assert checks(op, "relu[x=4x33;f64;fill=kink]") == set()
    assert checks(broken, "relu[x=4x33;f64;fill=kink]") == {"autograd"}


def test_a_gradient_held_at_zero_where_none_is_declared_is_noticed():
    op, case = load("embedding"), "embedding[weight=4x5;indices=9,;padding_idx=2;f64]"
    assert checks(op, case) == set()
    assert checks(replace(op, held=None), case) == {"finite", "complex"}
    assert checks(replace(op, vjp=lambda g, y, *tensors, **params: op.vjp(g, y, *tensors)), case) == {"autograd"}


def test_a_gradient_not_summed_over_broadcast_axes_is_noticed():
    op = load("mul")
    broken = replace(op, vjp=lambda g, y, a, b: (g * b, g * a))
    assert checks(broken, "mul[a=1x3;b=4x3;f64]") == {"finite"}


WRONG_SLICES = {
    "softmax[x=5x7;dim=-1;f64]": [{"x": -1, "y": -1}],
    "matmul[a=4x3;b=3x5;f64]": [{"a": -1, "b": -2, "y": -1}],
    "tril[x=5x7;diagonal=0;f64]": [{"x": -2, "y": -2}],
    "linear[x=4x3;weight=5x3;bias=5,;f64]": [{"weight": -2, "y": -1}],  # the bias has the axis too
}


@pytest.mark.parametrize("case", WRONG_SLICES)
def test_slices_that_are_not_independent_are_noticed(case):
    op = load(case.partition("[")[0])
    assert checks(op, case) == set()
    assert checks(replace(op, independent=lambda shapes, **params: WRONG_SLICES[case]), case) & {"slices", "raises"}


def test_a_pointwise_operator_that_looks_at_places_is_noticed():
    assert "slices" in checks(replace(load("tril"), independent=None), "tril[x=5x7;diagonal=0;f64]")


def test_a_reference_that_raises_disagrees():
    op = load("relu")

    def broken(x):
        raise ZeroDivisionError("no such thing")

    found = check(Case.parse("relu[x=3,;f64]"), replace(op, forward=broken), torch)
    assert [(d.check, d.message) for d in found] == [("raises", "ZeroDivisionError: no such thing")]


def test_at_nan_another_convention_agrees_but_nothing_else():
    """PyTorch's topk takes NaN for the largest; of no definition is NaN in the midst of numbers."""
    op, case = load("topk"), "topk[x=9x7;k=3;dim=-1;f64;fill=special-rows]"
    assert checks(op, case) == set()
    assert checks(replace(op, conventions=None), case) == {"values"}

    def middle(torch, x, *, k, dim, largest):
        return tuple(v.flip(dim) for v in torch.topk(x, k, dim, largest))

    assert checks(replace(op, torch=middle), case) == {"values"}


@pytest.mark.parametrize("name", [n for n in names() if load(n).facts["TWIN_ERRS"]])
def test_what_pytorch_is_said_to_have_wrong_is_wrong(name):
    op = load(name)
    unsaid = replace(op, facts={**op.facts, "TWIN_ERRS": ()})
    for row in op.facts["TWIN_ERRS"]:
        case = Case.parse(f"{name}[{row};f64]")
        assert {d.check for d in check(case, unsaid, torch)} - {"autograd", "values"} == set()
        assert check(case, unsaid, torch) != []
        assert check(case, op, torch) == []
