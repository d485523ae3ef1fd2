"""The third oracle's own tests, without OpInfo: what it compares, what rows cover, and that the page is up to date."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from _oracle import (
    AGREES,
    BY_A_CONVENTION,
    BY_THE_LARGEST,
    DISAGREES,
    RAISES,
    Difference,
    NotExpressed,
    Outcome,
    Reading,
    compare,
)
from _page import SUMMARY, counts, summarize
from _readers import by_name, called_as
from _rows import Row, idle, rows, uncovered
from _table import TABLE

from opproof.core.text import dump_json
from opproof.reference_ops import load

ROOT = Path(__file__).parents[2]
LEAST_OPERATORS = 230  # that issue 50 asks for


def numbers(*shape):
    return torch.linspace(-2, 2, int(np.prod(shape)), dtype=torch.float64).reshape(shape).requires_grad_()


def kind(operator, tensors, result, params=None, outputs=None):
    given = {} if outputs is None else {"outputs": outputs}
    leaves = [t for t in tensors if t is not None and t.requires_grad]
    return compare(Reading(operator, tensors, params or {}, **given), result, leaves, 0)


def test_what_agrees_agrees():
    x = numbers(5)
    assert kind("exp", (x,), torch.exp(x))[0] == AGREES
    a, b = numbers(3, 1), numbers(4)
    assert kind("mul", (a, b), a * b)[0] == AGREES


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        (lambda x: torch.exp(x) * (1 + 1e-8), "values"),
        (lambda x: torch.exp(x).reshape(-1, 1), "values"),
        (lambda x: torch.where(x > 1.9, torch.nan, torch.exp(x)), "values"),
        (lambda x: torch.exp(x.detach()) + (x - x.detach()), "gradient x"),  # right values, another slope
        (lambda x: torch.exp(x.detach()) - torch.exp(x) + torch.exp(x.detach()), "gradient x"),
        (lambda x: torch.exp(x.detach()) + 0 * x, "gradient x"),
    ],
)
def test_a_wrong_value_or_gradient_disagrees(wrong, part):
    x = numbers(5)
    found, _, differences = kind("exp", (x,), wrong(x))
    assert found == DISAGREES
    assert differences[0].part.startswith(part)


def test_small_elements_beside_large_ones_are_told_apart():
    x = torch.tensor([1e-12, 1.0], dtype=torch.float64)
    assert kind("contiguous", (x,), x + torch.tensor([1e-20, 0], dtype=torch.float64))[0] == BY_THE_LARGEST
    assert kind("contiguous", (x,), x + torch.tensor([1e-8, 0], dtype=torch.float64))[0] == DISAGREES


def test_an_answer_of_another_definition_is_a_convention():
    x = torch.tensor([[-torch.inf, -torch.inf]], dtype=torch.float64)
    assert kind("softmax", (x,), torch.zeros_like(x), {"dim": -1})[0] == BY_A_CONVENTION


def test_gradients_go_back_through_what_a_reader_did():
    x = numbers(3, 4)
    right = torch.nn.functional.softmin(x, 1)
    assert compare(Reading("softmax", (-x,), {"dim": 1}), right, [x], 0)[0] == AGREES
    found, _, differences = compare(
        Reading("softmax", (-x,), {"dim": 1}), torch.softmax(-x.detach() + x - x.detach(), 1), [x], 0
    )
    assert found == DISAGREES
    assert differences[0].part == "gradient argument 0"


def test_what_pytorch_has_no_gradient_of_is_told():
    b = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    a = torch.tensor(5.0, dtype=torch.float64)
    found, said, _ = kind("remainder", (a, b), torch.remainder(5.0, b))
    assert (found, "not implemented" in said) == (RAISES, True)


def test_an_argument_without_a_place_is_not_expressed():
    x = numbers(4)
    with pytest.raises(NotExpressed, match="alpha"):
        by_name("add")(torch.add, SimpleNamespace(input=x, args=(x,), kwargs={"alpha": 2}), None)
    reading = by_name("add")(torch.add, SimpleNamespace(input=x, args=(x,), kwargs={}), None)
    assert (reading.op, dict(reading.params)) == ("add", {})


def difference(**changed):
    return Difference(
        **{"part": "gradient x", "said": "", "holds": frozenset({"an input is not finite"}), "most": 1.0} | changed
    )


def test_a_row_covers_its_cause_alone():
    row = Row(("abs",), "convention", "", "gradient", frozenset({"an input is not finite"}), within=2.0)
    assert row.covers("abs", "abs", difference())
    assert not row.covers("relu", "abs", difference())
    assert not row.covers("abs", "abs", difference(part="values y"))
    assert not row.covers("abs", "abs", difference(holds=frozenset()))
    assert not row.covers("abs", "abs", difference(most=3.0))


def test_a_difference_without_a_row_and_a_row_without_one_are_told():
    new = Outcome("abs", 3, "float64", "abs", DISAGREES, differences=(difference(holds=frozenset()),))
    assert uncovered([new]) == ["abs#3 (float64, abs; ): gradient x: ; [], 1"]
    raised = Outcome("abs", 4, "float64", "abs", RAISES, said="no")
    assert uncovered([raised]) == ["abs#4 (float64, abs; ): PyTorch raises no"]
    assert "covers nothing" in idle("abs", [])[0]


def test_rows_name_entries_programs_and_docstrings():
    for row in rows():
        assert set(row.entries) <= TABLE.keys(), row
        if row.right == "ours":
            assert row.shown or row.link, row.why
        if row.shown:
            doc = ast.get_docstring(
                ast.parse((ROOT / f"docs/defects/torch/{row.shown}.py").read_text(encoding="utf-8"))
            )
            assert doc is not None
            named = [line.removeprefix("OpInfo:") for line in doc.splitlines() if line.startswith("OpInfo:")]
            assert "Ledger:" in doc or {e.strip() for e in named[0].split(",")} == set(row.entries), row.shown
        if row.right == "convention":
            assert row.operators, row.why
            for name in row.operators:
                assert "PyTorch" in load(name).doc.partition("\nPyTorch:")[0], name


def test_the_summary_and_the_counts_are_those_of_the_table():
    assert counts().keys() == TABLE.keys(), "run `python tests/opinfo/_page.py`"
    assert SUMMARY.read_text(encoding="utf-8") == dump_json(summarize()), "run `python tests/opinfo/_page.py --summary`"
    operators = {o for c in counts().values() for o in c["operators"]}
    assert len(operators) >= LEAST_OPERATORS


def test_a_reader_has_pytorchs_arguments():
    read = called_as(lambda x, dim, keepdim=False: Reading("sum", (x,), {"dim": dim, "keepdim": keepdim}))
    x = numbers(2, 3)
    assert read(None, SimpleNamespace(input=x, args=(1,), kwargs={"keepdim": True}), None).params == {
        "dim": 1,
        "keepdim": True,
    }
