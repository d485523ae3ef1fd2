"""What is true of a case is worked out once, for every backend that is asked."""

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.reference import expected
from opproof.harness.reference.expected import expected_of
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.reference_ops import load

CASE = Case.parse("softmax[x=7x33;dim=-1;f32]")


def test_a_question_is_drawn_once():
    once = Questions()
    first = once(CASE, load("softmax"), Mode.GRADIENT)
    assert once(CASE, load("softmax"), Mode.GRADIENT) is first
    assert once(CASE, load("softmax"), Mode.FORWARD) is not first


def test_what_is_expected_is_evaluated_once_for_each_precision(monkeypatch):
    posed = Questions()(CASE, load("softmax"), Mode.FORWARD).case_data
    evaluated = []
    exact = expected.evaluate_expected
    monkeypatch.setattr(expected, "evaluate_expected", lambda *a: evaluated.append(a[1]) or exact(*a))
    again = [expected_of(posed, declared) for declared in (None, None, "bf16", None)]
    assert evaluated == [None, "bf16"]
    assert again[0] is again[1] is again[3]


def test_backends_take_turns_at_a_case():
    selection = Selection(ops=("softmax",), level="smoke")
    planned = make_tasks(("torch", "mlx"), select_cases(selection), selection)
    assert [t.backend for t in planned[:4]] == ["torch", "torch", "mlx", "mlx"]
    assert len({t.case for t in planned[:4]}) == 1
