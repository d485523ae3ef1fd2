"""Operators by vector capability: counts of each, what fails or differs first, alike in all three reports."""

from dataclasses import replace

import pytest
import report_samples as samples

from opproof.core.verdicts import Verdict
from opproof.reports import html, markdown, terminal
from opproof.reports.capabilities import ITS_OWN, NOT_RUN, make_matrices

LEVELS = ("sse4", "avx2", "avx512")


def record(op, isa, number=0, verdict=Verdict.PASS, backend="torch", **more):
    spec = f"{backend}+isa={isa}" if isa else backend
    made = samples.result(f"{op}[x=4x{33 + number};f32]", "forward", verdict=verdict)
    return replace(made, backend=spec, **more)


def header(results, *specs):
    told = [{"spec": s, "name": "torch", "isa": s.rpartition("=")[2], "variables": "MINE=1"} for s in specs]
    return replace(samples.header(len(results)), backends=told)


@pytest.fixture(scope="module")
def run():
    results = [record(op, isa, n) for op in ("abs", "gelu", "relu", "tan") for isa in LEVELS for n in range(2)]
    wrong = [("gelu", "avx512", 0, Verdict.WRONG_VALUE, ""), ("relu", "sse4", 1, Verdict.WRONG_VALUE, "a reason")]
    for op, isa, n, verdict, known in wrong:
        at = results.index(record(op, isa, n))
        results[at] = record(op, isa, n, verdict, known=known)
    for isa in LEVELS:  # fails alike under all
        results[results.index(record("tan", isa, 0))] = record("tan", isa, 0, Verdict.ERROR)
    return header(results, *(f"torch+isa={isa}" for isa in LEVELS)), results


def test_what_fails_comes_before_what_differs_before_the_rest(run):
    (matrix,) = make_matrices(*run)
    assert matrix.capabilities == LEVELS  # in the order of the run
    assert matrix.variables == ("MINE=1",) * 3
    assert [(row.op, row.cells) for row in matrix.rows] == [
        ("gelu", ["2/0", "2/0", "1/1"]),
        ("tan", ["1/1", "1/1", "1/1"]),
        ("relu", ["1/0 +1", "2/0", "2/0"]),
        ("abs", ["2/0", "2/0", "2/0"]),
    ]
    assert [row.op for row in matrix.told] == ["gelu", "tan", "relu"]
    assert matrix.alike == "1 operator has the same counts, without a failure"


def test_every_report_has_it(run):
    text, comment, page = terminal.format_summary(*run), markdown.render(*run), html.render(*run)
    assert "torch by vector capability" in text
    assert [line.split()[0] for line in text.split("by vector capability")[1].splitlines()[3:6]] == [
        "gelu",
        "tan",
        "relu",
    ]
    assert "| gelu | 2/0 | 2/0 | 1/1 |" in comment
    assert "| abs | 2/0 | 2/0 | 2/0 |" not in comment
    assert '<th scope="col" title="MINE=1">avx512</th>' in page
    assert page.index('<th scope="row">gelu</th>') < page.index('<th scope="row">relu</th>')
    assert page.index('<th scope="row">relu</th>') < page.index('<th scope="row">abs</th>')


def test_a_run_without_capabilities_has_none(run):
    results = [replace(r, backend="torch") for r in run[1][:4]]
    told = header(results, "torch")
    assert make_matrices(told, results) == []
    assert "vector capability" not in terminal.format_summary(told, results) + markdown.render(told, results)
    assert 'class="isa"' not in html.render(told, results)


def test_the_library_s_own_choice_and_what_did_not_run_have_a_cell():
    results = [record("abs", ""), record("abs", "avx2"), record("tan", "avx2")]
    (matrix,) = make_matrices(header(results, "torch", "torch+isa=avx2"), results)
    assert matrix.capabilities == (ITS_OWN, "avx2")
    assert [(row.op, row.cells) for row in matrix.rows] == [("tan", [NOT_RUN, "1/0"]), ("abs", ["1/0", "1/0"])]


def test_each_backend_has_a_table_of_its_own():
    results = [record("abs", isa, backend=b) for b in ("torch", "./a/mine.so") for isa in ("x", "y")]
    assert [m.backend for m in make_matrices(samples.header(4), results)] == ["mine.so", "torch"]


def test_names_do_no_harm():
    results = [record("abs", "<script>alert(1)</script>"), record("abs", "a|b\x1b[2J")]
    told = samples.header(2)
    page, comment, text = (
        html.render(told, results),
        markdown.render(told, results),
        terminal.format_summary(told, results),
    )
    assert "<script>alert(1)" not in page + comment
    assert "a\\|b" in comment
    assert "\x1b[2J" not in page + comment + text


def test_a_comment_has_so_many_operators_and_says_how_many_more():
    results = [record(f"op{n:03}", isa, verdict=v) for n in range(60) for isa, v in (("x", "PASS"), ("y", "ERROR"))]
    comment = markdown.render(samples.header(120), results)
    assert comment.count("| 1/0 | 0/1 |") == 40
    assert "… and 20 more operators" in comment
