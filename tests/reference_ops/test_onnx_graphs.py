"""ONNX's node cases of several nodes as graphs: as many as there are, right by ONNX's values, answered by a backend."""

import json

import pytest

pytest.importorskip("onnx", reason="ONNX's cases need pip onnx")
pytest.importorskip("onnxruntime")

from _onnx_graphs import EXPLAINED, FILE, graph_cases, judge


@pytest.fixture(scope="module")
def found():
    return graph_cases()


@pytest.fixture(scope="module")
def summary():
    return json.loads(FILE.read_text(encoding="utf-8"))


def test_at_least_340_of_422_are_graphs_with_onnx_s_values(found, summary):
    graphs = [one for one in found if not one.why]
    assert len(graphs) >= 340
    assert [one.name for one in graphs if one.differs] == []
    assert (len(found), len(graphs)) == (summary["cases"], summary["graphs"]), "python tests/_onnx_graphs.py writes it"


def test_what_is_no_graph_has_its_reason(found, summary):
    reasons = {one["reason"]: one["cases"] for one in summary["not graphs"]}
    assert reasons == {why: sum(one.why == why for one in found) for why in {one.why for one in found if one.why}}


def test_onnx_runtime_answers_them_as_the_table_says(found, summary):
    verdicts = {}
    for one in found:
        if not one.why:
            verdict = str(judge(one, "onnxruntime").judgement.verdict)
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
    (told,) = (one["verdicts"] for one in summary["backends"] if one["backend"] == "onnxruntime")
    assert verdicts == told
    assert set(verdicts) <= {"PASS", "VACUOUS", "UNSUPPORTED"}


def test_every_wrong_answer_is_explained(summary):
    told = {(one["backend"], other["case"]) for one in summary["backends"] for other in one["others"]}
    assert told == EXPLAINED.keys()
