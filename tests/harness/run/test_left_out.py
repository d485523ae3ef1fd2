"""An output that libraries compute on request may be left out: the others are judged, and every report says so."""

import json
from dataclasses import replace

import pytest
from _runs import opproof

from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task
from opproof.reports import Header, html, junit, markdown, terminal
from opproof.reports._summary import describe_provisos

BACKEND = """
from opproof.backends import numpy as own

BACKEND = own.create()

def forward(op, inputs, params):
    y, *more = BACKEND.forward(op, inputs, params)
    if op == "max_pool1d":
        return [y, None]
    if op == "max_pool2d":
        return [1.5 * y, None]
    if op == "max_pool3d":
        return [None, *more]
    return [y, *[None] * len(more)]
"""
TOLD = "1 record of max_pool1d judged without indices, which did not come."
EXPECTED = {
    "max_pool1d[x=2x3x9;kernel_size=2;f32]": ("PASS", ""),
    "max_pool1d[x=2x3x9;kernel_size=1;f32]": ("VACUOUS", "copy would pass as well"),
    "max_pool2d[x=2x3x9x9;kernel_size=2;f32]": ("WRONG_VALUE", ""),
    "max_pool3d[x=2x3x5x5x5;kernel_size=2;f32]": ("WRONG_SHAPE", "output y is None, expected shape"),
    "topk[x=7x33;k=3;dim=-1;f32]": ("WRONG_SHAPE", "output indices is None, expected shape (7, 3)"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("left_out") / "backend.py"
    path.write_text(BACKEND)
    with Pool(HostLimits(1, timeout=60.0, memory=2**30)) as pool:
        return {r.case: r for r in pool.run([Task(str(path), case, "forward") for case in EXPECTED])}


@pytest.mark.parametrize("case", EXPECTED)
def test_verdicts(results, case):
    verdict, message = EXPECTED[case]
    assert (results[case].verdict, results[case].message[: len(message)]) == (verdict, message)
    assert results[case].left_out == (("indices",) if case[:10] in ("max_pool1d", "max_pool2d") else ())


@pytest.mark.parametrize("render", [terminal.format_summary, markdown.render, html.render, junit.render])
def test_reports_say_it_once(results, render):
    record = results["max_pool1d[x=2x3x9;kernel_size=2;f32]"]
    assert render(Header(opproof="1"), [record]).replace("\\_", "_").count(TOLD) == 1
    assert "judged without" not in render(Header(opproof="1"), [replace(record, left_out=())])


def test_several_records_are_counted_together(results):
    assert describe_provisos([r for r in results.values() if r.verdict != "VACUOUS"]) == (
        "2 records of max_pool1d, max_pool2d judged without indices, which did not come."
    )


def test_the_file_of_results_keeps_it(tmp_path, capsys):
    (tmp_path / "backend.py").write_text(BACKEND)
    case = "max_pool1d[x=2x3x9;kernel_size=2;f32]"
    status, out, _ = opproof(capsys, "run", "-b", tmp_path / "backend.py", "--case", case, "--out", tmp_path / "run")
    assert status == 0
    assert TOLD in out
    (line,) = (tmp_path / "run" / "results.jsonl").read_text().splitlines()[1:2]
    assert json.loads(line)["left_out"] == ["indices"]
    assert TOLD in opproof(capsys, "report", tmp_path / "run")[1]
