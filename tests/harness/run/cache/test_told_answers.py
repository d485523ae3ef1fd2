"""Diagnoses that are kept: the same wrong bits are not explained again, the verdict on them is given again."""

from dataclasses import replace

import numpy as np
import pytest
from _desk import records_of

from opproof.cases import Case
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.diagnose import diagnosis
from opproof.harness.judge.judgement import Rules
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.question import make_question
from opproof.harness.run import calls
from opproof.harness.run.cache import entry as module
from opproof.harness.run.cache import store as sources
from opproof.harness.run.cache.entry import CachedDiagnosis, explain_or_recall
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.cache.store import CacheLocation, CacheStore
from opproof.reference_ops import load

CASES = ("softmax[x=7x33;dim=-1;f32]", "relu[x=4x33;f32]")
BACKEND = "def forward(op, inputs, params):\n    return [{}]\n"


def never(*_, **__):
    raise AssertionError("it was explained again")


@pytest.fixture
def at(tmp_path):
    return CacheLocation(tmp_path / "cache", b"k" * 32)


@pytest.fixture
def wrong(tmp_path):
    """A backend that doubles, whatever it is asked."""
    backend = tmp_path / "mine.py"
    backend.write_text(BACKEND.format("inputs[0] * 2"))
    return backend


def asked(text="gelu[x=20x20;f32]"):
    case = Case.parse(text)
    return make_question(case, load(case.op), Mode.FORWARD).case_data


def test_the_same_wrong_answers_are_not_explained_again_and_have_the_same_records(at, wrong, monkeypatch):
    plain = records_of(at, str(wrong), CASES)
    values = [r for r in plain if r.mode is Mode.FORWARD]
    assert {r.verdict for r in values} == {Verdict.WRONG_VALUE}
    assert all(r.patterns and r.evidence for r in values)
    monkeypatch.setattr(diagnosis, "explain", never)
    assert records_of(at, str(wrong), CASES) == plain


def test_the_verdict_is_given_again(at, wrong, monkeypatch):
    records_of(at, str(wrong), CASES[1:])
    seen = []
    judge = calls.judge
    monkeypatch.setattr(calls, "judge", lambda *a: seen.append(a) or judge(*a))
    records_of(at, str(wrong), CASES[1:])
    assert seen


def test_another_wrong_answer_is_explained(at, wrong):
    first = records_of(at, str(wrong), CASES[1:])
    wrong.write_text(BACKEND.format("inputs[0]"))
    second = records_of(at, str(wrong), CASES[1:])
    assert second[0].patterns
    assert first[0].diagnosis != second[0].diagnosis


def test_other_bits_rules_calls_before_and_other_patterns_are_explained(monkeypatch):
    posed = asked()
    wrong = Outputs([np.float32(2) * posed.outputs[0].astype(np.float32)], [np.zeros((20, 20), np.float32)])
    known = CachedDiagnosis("factor", "2 × the expected one", ())
    assert explain_or_recall(posed, wrong, None, lambda: known) == known
    assert explain_or_recall(posed, wrong, Rules(), never) == known
    for answer, rules in (
        (replace(wrong, arrays=[np.nextafter(wrong.arrays[0], np.float32(9))]), None),
        (replace(wrong, before=wrong.arrays), None),
        (wrong, Rules(declared="bf16")),
    ):
        with pytest.raises(AssertionError, match="explained again"):
            explain_or_recall(posed, answer, rules, never)
    with pytest.raises(AssertionError, match="explained again"):
        explain_or_recall(posed.given(inputs=(posed.inputs[0] * 2,)), wrong, None, never)
    monkeypatch.setattr(module, "of_diagnoses", lambda: b"other patterns")
    with pytest.raises(AssertionError, match="explained again"):
        explain_or_recall(posed, wrong, None, never)


def test_a_changed_pattern_and_a_changed_operator_are_other_sources(tmp_path, monkeypatch):
    folders = {name: tmp_path / name for name in ("diagnose", "reference_ops")}
    for folder in folders.values():
        folder.mkdir()
        (folder / "one.py").write_text("1")
    monkeypatch.setattr(sources, "_folder_of", lambda package: folders[package.__name__.rpartition(".")[2]])
    seen = {sources.of_diagnoses.__wrapped__()}
    for folder in folders.values():
        (folder / "one.py").write_text("2")
        seen.add(sources.of_diagnoses.__wrapped__())
    assert len(seen) == 3


def test_a_diagnosis_is_kept_with_the_question_and_once(at):
    store, case = CacheStore(at), Case.parse("gelu[x=20x20;f32]")
    wrong, known = (
        Outputs([np.zeros((20, 20), np.float32)]),
        CachedDiagnosis("zeros", "nothing but 0", (("sign", "no sign"),)),
    )
    for explain in (lambda: known, never):
        questions = Questions(store)
        assert explain_or_recall(questions(case, load("gelu"), Mode.FORWARD).case_data, wrong, None, explain) == known
        questions.keep()
