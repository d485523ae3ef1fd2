"""Our references against ONNX's node cases, a third opinion on values: docs/data/onnx.json."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the ONNX oracle needs pip onnx")

from _onnx_cases import EXPLAINED, difference
from _onnx_page import FILE, summarize, verdicts

from opproof.core.text import dump_json
from opproof.reference_ops.onnx.shared import NotTranslatable, express
from opproof.reference_ops.onnx.table import MAP


@pytest.fixture(scope="module")
def found():
    return verdicts()


def test_at_least_900_cases_agree_on_150_nodes(found):
    agree = [v for v in found if v.verdict == "agrees"]
    assert len(agree) >= 900
    assert len({v.node for v in agree}) >= 150


def test_every_disagreement_is_explained(found):
    assert {v.case: v.why for v in found if v.verdict == "differs"}.keys() == EXPLAINED.keys()


def test_every_operator_of_the_table_has_a_case_that_runs(found):
    assert set(MAP) - {v.node for v in found if v.verdict != "not ours"} == set()


def test_what_is_not_run_has_a_reason(found):
    assert all(v.why for v in found if v.verdict == "not ours")


def test_the_summary_is_up_to_date(found):
    assert FILE.read_text(encoding="utf-8") == dump_json(summarize(found)), "python tests/_onnx_page.py writes it"


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_wrong_answer_differs(dtype):
    want = np.array([1.0, 2.0, 3.0], dtype=dtype)
    assert difference(want.astype(np.float64), want) == ""
    assert difference(want.astype(np.float64) * 1.003, want).startswith("3 of 3 elements differ; at (0,)")
    assert difference(np.array([1.0, np.nan, 3.0]), want).startswith("1 of 3")
    assert difference(np.array([[1.0, 2.0, 3.0]]), want).startswith("shape")


def test_a_wrong_index_differs():
    assert difference(np.array([0, 2]), np.array([0, 1])) == "1 of 2 elements differ"


def test_operators_that_do_not_round_are_held_to_the_last_bit():
    want = np.array([1.0, 2.0], dtype=np.float32)
    assert difference(want * (1 + 1e-7), want) == ""
    assert difference(want * (1 + 1e-7), want, exact=True).startswith("2 of 2 elements differ")


def answer(name, *tensors, **params):
    """Stands for our operators: what an entry asks of them."""
    return name, params


@pytest.mark.parametrize(
    ("node", "inputs", "attributes", "reason"),
    [
        ("Gelu", 1, {"approximate": "tanh", "of_tomorrow": 1}, "the attribute of_tomorrow"),
        ("Attention", 3, {"of_tomorrow": 1}, "the attribute of_tomorrow"),
        ("Gelu", 2, {}, "an input after 1 others"),
    ],
)
def test_what_a_node_of_a_newer_onnx_has_is_not_ours(node, inputs, attributes, reason):
    with pytest.raises(NotTranslatable, match=f"^{reason}$"):
        express(MAP[node], answer, [np.ones((1, 1, 2, 2))] * inputs, attributes, 1)


def test_a_node_is_expressed():
    assert express(MAP["Gelu"], answer, [np.ones(3)], {"approximate": "tanh"}, 1) == ("gelu", {"approximate": "tanh"})
    assert express(MAP["Max"], lambda name, a, b: a + b, [1, 2, 3], {}, 1) == 6
    with pytest.raises(NotTranslatable, match="what is dropped"):
        express(MAP["Dropout"], answer, [np.ones(3), 0.5, True], {}, 1)
    assert express(MAP["Dropout"], answer, [np.ones(3), 0.5, True], {}, 2)[0] == "dropout"
