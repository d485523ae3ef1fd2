"""Equal elements: sort owes no order among them to the gradient, topk none to the indices; all else stays as it was."""

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Question, evaluate_vjp, make_question
from opproof.reference_ops import load
from opproof.reference_ops._order import equals

SORT = "sort[x=5x33;dim=-1;descending=true;f32;fill=ties]"
TOPK = "topk[x=5x33;k=7;dim=-1;f16;fill=ties]"


def judged(text, change, mode="gradient", convention="any"):
    """The verdict on the reference's own answer, altered by `change(answers, x)`."""
    case = Case.parse(text)
    p = make_question(case, load(case.op), Mode(mode)).case_data
    right = p.outputs if mode == "forward" else evaluate_vjp(p.op, p.inputs, p.params, p.cotangents, p.outputs)
    arrays = change([np.array(v) for v in right], p.inputs[0])
    answer = Outputs([to_dtype(np.array(v), case.dtype) for v in arrays])
    return judge(p, answer, Rules(convention=convention))


def among_equals(order):
    """Gradients put in another order inside each group of equal elements of a row."""

    def change(answers, x):
        d = answers[0]
        for row, values in zip(d, x, strict=True):
            for v in np.unique(values):
                row[values == v] = order(row[values == v])
        return [d]

    return change


@pytest.mark.parametrize("text", [SORT, TOPK, "sort[x=33x5;dim=0;bf16;fill=ties;layout=transposed]"])
def test_the_references_own_order_passes(text):
    assert judged(text, lambda answers, x: answers, convention="torch").verdict == "PASS"


@pytest.mark.parametrize("text", [SORT, TOPK])
@pytest.mark.parametrize("order", [lambda d: d[::-1], lambda d: np.roll(d, 1), np.sort])
def test_any_order_among_equals_passes(text, order):
    found = judged(text, among_equals(order))
    assert (found.verdict, found.message) == ("PASS", "gradients of equal elements stand in another order")
    assert judged(text, among_equals(order), convention="torch").verdict == "WRONG_GRADIENT"


@pytest.mark.parametrize("text", [SORT, TOPK])
@pytest.mark.parametrize("share", [lambda d: np.full_like(d, d.mean()), lambda d: 0.75 * d + 0.25 * d[::-1]])
def test_equals_may_share(text, share):
    """As a network of maximum and minimum does, each of which halves at ties (tinygrad sorts that way)."""
    found = judged(text, among_equals(share))
    assert (found.verdict, found.message) == ("PASS", "gradients of equal elements are shared among them")
    assert judged(text, among_equals(share), convention="torch").verdict == "WRONG_GRADIENT"


@pytest.mark.parametrize(
    "change",
    [
        among_equals(lambda d: np.full_like(d, d[0])),  # one cotangent for all
        among_equals(lambda d: d * 0.5),  # shared out, and half of it lost
        among_equals(lambda d: 2 * d - d.mean()),  # the same total, more than there is to share
        among_equals(lambda d: np.concatenate([d[:-1], [2 * d[-1]]])),
        lambda answers, x: [answers[0][:, ::-1]],  # in another order, but across groups
        lambda answers, x: [answers[0] * (1 + 2.0**-20)],
        lambda answers, x: [np.where(np.arange(33) == 5, np.nan, answers[0])],
    ],
)
def test_anything_else_fails(change):
    assert judged(SORT, change).verdict == "WRONG_GRADIENT"


def from_the_end(answers, x):
    """The top elements, the last of equals first."""
    return [answers[0], 32 - np.argsort(-x[:, ::-1], axis=1, kind="stable")[:, :7]]


def test_topk_may_take_any_of_equal_elements():
    assert judged(TOPK, from_the_end, "forward").verdict == "PASS"


@pytest.mark.parametrize("wrong", ["twice", "negative", "beyond", "smaller"])
def test_topk_may_not_take_others(wrong):
    def change(answers, x):
        values, indices = from_the_end(answers, x)
        if wrong == "twice":
            indices[2, 1] = indices[2, 0]
        elif wrong == "smaller":
            indices[2, 3] = np.argmin(x[2])
        else:
            indices[2, 3] += 33 if wrong == "beyond" else -33
        return [values, indices]

    found = judged(TOPK, change, "forward")
    assert (found.verdict, found.worst.tensor, found.worst.index[0]) == ("WRONG_VALUE", "indices", 2)


def test_sort_keeps_its_order_in_the_indices():
    """Its tie rule is declared: equal elements keep their order."""
    text = SORT.replace("descending=true;", "")

    def last_first(answers, x):
        return [answers[0], 32 - np.argsort(x[:, ::-1], axis=1, kind="stable")]

    assert judged(text, last_first, "forward").verdict == "WRONG_VALUE"


def test_an_element_may_win_one_window_and_lose_another():
    """Two overlapping windows tie at the middle; with g = (1, -1) it may get 1, 0 or -1."""
    op, case = load("max_pool1d"), Case.parse("max_pool1d[x=1x1x3;kernel_size=2;stride=1;f32;fill=constant]")
    x, g = np.ones((1, 1, 3)), np.array([[[1.0, -1.0]]])
    posed = Question(case, op, Mode.GRADIENT, ("x",), (x,), (g, None), (True,))

    def verdict(*gradient):
        return judge(posed, Outputs([np.array([[gradient]], dtype=np.float32)]), Rules()).verdict

    right = [(1, -1, 0), (1, 0, -1), (0, 1, -1), (0, 0, 0), (0.5, 0, -0.5)]
    assert {verdict(*d) for d in right} == {"PASS"}
    assert {verdict(*d) for d in [(1, 1, 0), (2, -1, 0), (1, -2, 0), (0, 1, 0)]} == {"WRONG_GRADIENT"}


def test_groups():
    x = np.array([[1.0, 2, 1, 0, -0.0], [2, 2, 2, 2, 2]])
    assert equals(x, 1).tolist() == [[1, 2, 1, 0, 0], [3, 3, 3, 3, 3]]
    assert equals(x.T, 0).T.tolist() == equals(x, 1).tolist()
    assert equals(np.zeros((3, 0)), 1).shape == (3, 0)


@pytest.mark.parametrize("text", ["sort[x=5x33;dim=-1;bf16]", "topk[x=5x33;k=7;dim=-1;bf16]"])
def test_an_element_without_an_equal_shares_nothing(text):
    """An average may round; a gradient that is moved may not: times 1.02 is wrong in bf16 too."""
    assert judged(text, lambda answers, x: answers).verdict == "PASS"
    assert judged(text, lambda answers, x: [1.02 * answers[0]]).verdict == "WRONG_GRADIENT"


def test_a_gradient_that_is_0_but_for_rounding_may_stand_at_any_of_equals():
    """The weight of one expert is 1: which of equal ones is chosen gets what is left of two terms that cancel."""
    text = "topk_moe[logits=65x63;k=1;gating=sigmoid;scale=1.00432;f64;fill=ties]"

    def move(answers, x):
        d = np.array(answers[0])
        for row, values in zip(d, x, strict=True):
            best = np.flatnonzero(values == values.max())
            row[best] = 0
            row[best[-1]] = 1e-21
        return [d]

    assert judged(text, move).verdict in ("PASS", "VACUOUS")
