"""The support matrix: cells from records, in text and Markdown, and from a run."""

import pytest
from _runs import completed

from opproof.reports import Result, support


def record(op, verdict="PASS", mode="forward", dtype="f32", backend="a", known=""):
    case = f"{op}[x=3,;{dtype}]"
    return Result(case=case, op=op, dtype=dtype, backend=backend, mode=mode, verdict=verdict, known=known)


RECORDS = [
    record("relu"),
    record("relu", mode="gradient"),
    record("relu", dtype="bf16"),
    record("relu", "WRONG_GRADIENT", mode="gradient", dtype="bf16"),
    record("exp", "UNSUPPORTED"),
    record("exp", "WRONG_VALUE", backend="lib/b|c.so", known="a table"),
    record("exp", backend="lib/b|c.so", dtype="f64"),
    record("abs", "VACUOUS", backend="lib/b|c.so"),
    record("tan", "UNSUPPORTED", dtype="f16"),
    record("tan", dtype="f64"),
]


def test_cells():
    cells = support.make_matrix(RECORDS)
    assert list(cells) == ["abs", "exp", "relu", "tan"]
    assert cells["relu"]["a"] == support.Cell("pass", "FAIL", ("f32",))
    assert cells["exp"]["a"] == support.Cell("–", "", ())
    assert cells["exp"]["lib/b|c.so"] == support.Cell("known", "", ("f64",))
    assert cells["abs"]["lib/b|c.so"] == support.Cell("no evidence", "", ())
    assert cells["relu"]["lib/b|c.so"] == support.Cell("", "", ())
    assert cells["tan"]["a"] == support.Cell("pass", "", ("f64",))


@pytest.mark.parametrize("verdict", ["ERROR", "CRASH", "a verdict of tomorrow"])
def test_any_failure_shows(verdict):
    cells = support.make_matrix([*RECORDS, record("tan", verdict, dtype="f64")])
    assert cells["tan"]["a"] == support.Cell("FAIL", "", ())


def test_sentences_count():
    assert support.summarise_backends(support.make_matrix(RECORDS)) == [
        "a answers 2 of 4 operators, 1 with gradients (1 with failures).",
        "b|c.so answers 1 of 4 operators, 0 with gradients (1 with known failures).",
    ]


def test_terminal_and_markdown():
    cells = support.make_matrix(RECORDS)
    lines = support.format_terminal(cells).splitlines()
    assert lines[0].split() == ["operator", "a", "b|c.so"]
    assert [line.split() for line in lines if line.startswith("relu")] == [["relu", "pass", "/", "FAIL", "f32"]]
    text = support.format_page(cells)
    assert "| operator | a | b\\|c.so |" in text
    assert "| exp | – | known f64 |" in text
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {4}


def opproof(*arguments, cwd):
    return completed(*arguments, cwd=cwd)


def test_command(tmp_path):
    opproof("run", "-b", "numpy", "--op", "relu,argmax", "--level", "smoke", "-j", "1", "--quiet", cwd=tmp_path)
    run = opproof("support", "opproof-report", "--markdown", "out/s.md", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "numpy answers 2 of 2 operators, 1 with gradients." in run.stdout
    assert "| relu | pass / pass f64 f32 bf16 f16 |" in (tmp_path / "out" / "s.md").read_text(encoding="utf-8")
    assert opproof("support", "opproof-report", "--op", "tan", cwd=tmp_path).returncode == 3


def test_wrong_calls(tmp_path):
    assert opproof("support", cwd=tmp_path).returncode == 2
    done = opproof("support", "no-such-folder", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
