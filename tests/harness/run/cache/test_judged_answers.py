"""Answers that were judged before: the same bits by the same rules are not judged again, everything else is."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from _desk import records_of

from opproof.cases import Case
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.judgement import Judgement, Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.question import make_question
from opproof.harness.run import calls
from opproof.harness.run.cache.entry import MAX_KEPT_ANSWERS, judge_or_recall
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.cache.store import CacheLocation, CacheStore
from opproof.harness.run.calls import arrange_calls
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import load

CASES = ("softmax[x=7x33;dim=-1;f32]", "gelu[x=20x20;bf16]", "relu[x=4x33;f32;fill=kink]", "sort[x=3x8;dim=-1;f32]")


def never(*_, **__):
    raise AssertionError("it was judged again")


@pytest.fixture
def at(tmp_path):
    return CacheLocation(tmp_path / "cache", b"k" * 32)


def records(at, backend="numpy", texts=CASES):
    return records_of(at, backend, texts)


def asked(text="gelu[x=20x20;f32]"):
    case = Case.parse(text)
    return make_question(case, load(case.op), Mode.FORWARD).case_data


def answer_to(posed, factor=1.0):
    return Outputs([(y * factor).astype(np.float32) for y in posed.outputs])


def test_the_same_answers_are_not_judged_again_and_have_the_same_records(at, monkeypatch):
    plain = records(at)
    assert {r.verdict for r in plain} == {Verdict.PASS}
    assert any(r.rms is not None and r.worst is not None for r in plain)
    monkeypatch.setattr(calls, "judge", never)
    assert records(at) == plain


def test_what_other_data_have_the_same_answer_to_is_not_judged_again(at, monkeypatch):
    """Of the gradient of a sum, which is that of every input: the answer is asked for with other data as well."""
    texts = ("add[a=9x9;b=9x1;f32]", "concat[a=16385x2;b=3x2;dim=0;f32]")
    assert {arrange_calls(Task("numpy", text, "gradient")).stays for text in texts} == {True}
    assert {arrange_calls(Task("numpy", text, "gradient")).leads for text in texts} == {True}
    plain = records(at, texts=texts)
    monkeypatch.setattr(calls, "judge", never)
    assert records(at, texts=texts) == plain


def test_what_was_said_of_other_data_is_of_these_alone():
    asked_of, others = asked(), asked().given(inputs=(asked().inputs[0] * 2,))
    right = answer_to(others)
    known = judge_or_recall(others, right, Rules(), lambda: judge(others, right, Rules()), asked_of)
    assert known.verdict is Verdict.PASS
    assert judge_or_recall(others, right, Rules(), never, asked_of) == known
    for posed, beside in ((asked_of, None), (others, None), (others.given(inputs=asked_of.inputs), asked_of)):
        with pytest.raises(AssertionError, match="judged again"):
            judge_or_recall(posed, right, Rules(), never, beside)


def test_a_backend_that_answers_otherwise_is_judged(at, tmp_path):
    backend = tmp_path / "mine.py"
    source = "from math import e\n\n\ndef forward(op, inputs, params):\n    return [inputs[0] * (inputs[0] > 0) * {}]\n"
    for factor, verdict in (("1", "PASS"), ("inputs[0].dtype.type(1.0001)", "WRONG_VALUE"), ("1", "PASS")):
        backend.write_text(source.format(factor))
        (first, _) = records(at, str(backend), ("relu[x=4x33;f32]",))
        assert first.verdict == verdict


def test_one_bit_another_precision_and_another_convention_are_judged():
    posed = asked()
    right = answer_to(posed)
    known = judge_or_recall(posed, right, Rules(), lambda: judge(posed, right, Rules()))
    assert judge_or_recall(posed, right, Rules(), never) == known
    other = Outputs([np.nextafter(right.arrays[0], np.float32(9))])
    for answer, rules in (
        (other, Rules()),
        (Outputs([right.arrays[0].reshape(-1)]), Rules()),
        (Outputs([right.arrays[0].view(np.int32)]), Rules()),
        (Outputs([None]), Rules()),
        (right, Rules(declared="bf16")),
        (right, Rules(rounding="truncate")),
        (right, Rules(convention="torch")),
        (right, Rules(strict_subnormals=True)),
    ):
        with pytest.raises(AssertionError, match="judged again"):
            judge_or_recall(posed, answer, rules, never)


def test_the_same_answer_to_other_data_is_judged():
    posed = asked()
    right = answer_to(posed)
    judge_or_recall(posed, right, Rules(), lambda: judge(posed, right, Rules()))
    with pytest.raises(AssertionError, match="judged again"):
        judge_or_recall(posed.given(inputs=(posed.inputs[0] * 2,)), right, Rules(), never)


def test_what_is_wrong_is_judged_every_time():
    posed = asked()
    wrong = answer_to(posed, 1.001)
    first = judge_or_recall(posed, wrong, Rules(), lambda: judge(posed, wrong, Rules()))
    assert first.verdict is Verdict.WRONG_VALUE
    assert not posed.passed
    with pytest.raises(AssertionError, match="judged again"):
        judge_or_recall(posed, wrong, Rules(), never)


def test_of_what_is_drawn_the_other_draws_count_too():
    posed = asked("dropout[x=40x50;p=0.5;f32]")
    x, y = (np.full(3, v, np.float32) for v in (1, 2))
    for answer in (Outputs([x], [x]), Outputs([x], [y]), Outputs([x], [x], [y])):
        assert judge_or_recall(posed, answer, Rules(), lambda a=answer: Judgement(Verdict.PASS, str(a))).message == str(
            answer
        )
    assert len(posed.passed) == 3


@pytest.mark.parametrize("text", ["relu[x=600x4000;f32]", "dropout[x=33x65;p=0.3;key=21;bf16]"])
def test_an_answer_in_slices_and_one_that_is_drawn_are_not_judged_again(at, monkeypatch, text):
    def judging():
        desk = Session(HostLimits(1, 60.0, 4 * 2**30), at)
        try:
            task = Task("numpy", text, "forward", judge_memory=2**26)
            return [replace(r, seconds=0.0, judging=0.0) for r in desk.results([task])]
        finally:
            desk.close()

    plain = judging()
    assert [r.verdict for r in plain] == [Verdict.PASS]
    monkeypatch.setattr(calls, "judge", never)
    monkeypatch.setattr(calls, "judge_in_slices", never)
    assert judging() == plain


def test_a_question_in_slices_is_not_held(at):
    """What is judged in slices is large: until all is kept, what was said of answers stays, and not their data."""
    questions = Questions(CacheStore(at))
    pair = questions(Case.parse("relu[x=600x4000;f32]"), load("relu"), Mode.FORWARD, 2**26)
    assert pair.room is not None
    held = weakref.ref(pair.case_data)
    del pair
    gc.collect()
    assert held() is None


def test_of_many_answers_the_last_are_kept(at):
    store, case = CacheStore(at), Case.parse("gelu[x=20x20;f32]")
    questions = Questions(store)
    posed = questions(case, load("gelu"), Mode.FORWARD).case_data
    for k in range(MAX_KEPT_ANSWERS + 2):
        other = Outputs([answer_to(posed).arrays[0] + np.float32(k)])
        judge_or_recall(posed, other, Rules(), lambda k=k: Judgement(Verdict.PASS, str(k)))
    questions.keep()
    again = Questions(store)(case, load("gelu"), Mode.FORWARD).case_data
    assert [p.message for p in again.passed.values()] == [str(k) for k in range(2, MAX_KEPT_ANSWERS + 2)]
