"""Whatever a backend, a case or a file says: no rendering passes on what could do harm where it is shown."""

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import report_samples as samples
from _runs import opproof, write_run

from opproof.core.errors import ResultsError
from opproof.core.text import MAX_TEXT_BYTES
from opproof.core.verdicts import Verdict
from opproof.reports import (
    Evidence,
    Header,
    Input,
    Picture,
    Worst,
    github,
    html,
    junit,
    markdown,
    read_results,
    support,
    tables,
    terminal,
)
from opproof.reports._results import encode_record, write_line
from opproof.reports.changes import compare_runs
from opproof.reports.changes import text as changes_text

#: Cursor, colour, title; right-to-left override and isolate; a BEL, a NUL, a lone surrogate, a non-character; lines.
EVIL = "\x1b[2J\x1b]0;t\x07\u202e\u2066\u200f\u061c\x00\x9b31m\udc80\ufffe\u2028\x85\r."
NAME = f"a{EVIL}b"
CASE = f"relu[x=3,{EVIL};f32]"


def evil(verdict, known=""):
    worst = Worst(tensor=NAME, index=(0,), got=1.0, expected="nan", bound=0.1)
    x = Input(name=NAME, shape=(1,), dtype=NAME, layout=NAME, strides=(1,), fill=NAME, low=0.0, high=1.0, size=1.0,
              first=(EVIL,))  # fmt: skip
    picture = Picture(tensor=NAME, shape=(1,), rows=(0, 1), columns=(0, 1), grid=(1, 1), cells="d")
    return samples.result(CASE, "forward", verdict=verdict, op=NAME, dtype=NAME, backend=NAME, message=EVIL,
                          diagnosis=EVIL, known=known, repro=f"opproof {EVIL}", worst=worst, units=9.0,
                          evidence=Evidence(inputs=(x,), elements=(worst,), pictures=(picture,)))  # fmt: skip


RECORDS = [replace(evil(v), case=f"{CASE}{n}") for n, v in enumerate(Verdict)] + [evil("CRASH", known=EVIL)]
HEADER = Header(
    opproof=NAME,
    backends=[{"spec": NAME, "name": NAME, "version": NAME, "device": NAME}],
    host={NAME: NAME},
    options={NAME: NAME, "selection": {NAME: [NAME]}},
    started=NAME,
    cases=99,
    constants={"C": 16.0},
)
BEFORE = (HEADER, [replace(r, verdict=Verdict.PASS) for r in RECORDS[:-1]] + [replace(RECORDS[0], case="gone" + EVIL)])
SINCE = compare_runs(BEFORE, (replace(HEADER, options={"selection": {NAME: [1]}}), RECORDS))


def csv_of(records):
    file = io.StringIO(newline="")
    tables.write_csv(records, file)
    return file.getvalue().replace("\r\n", "\n")  # the lines' own ends


RENDERED = {
    "terminal": lambda: terminal.format_summary(HEADER, RECORDS, limit=99),
    "markdown": lambda: markdown.render(HEADER, RECORDS, remarks=[EVIL], limit=10**6),
    "html": lambda: html.render(
        HEADER, RECORDS, docs={NAME: EVIL}, scripts={CASE: EVIL}, changes=SINCE, remarks=[EVIL]
    ),
    "junit": lambda: junit.render(HEADER, RECORDS, [EVIL]),
    "github": lambda: github.format_annotations(HEADER, RECORDS, [EVIL], limit=99),
    "csv": lambda: csv_of(RECORDS),
    "compare": lambda: changes_text.format_text(SINCE),
    "compare in Markdown": lambda: changes_text.format_markdown(SINCE),
    "support": lambda: "\n".join(support.summarise_backends(support.make_matrix(RECORDS))),
}


@pytest.mark.parametrize("name", RENDERED)
def test_what_does_not_print_is_escaped(name):
    text = RENDERED[name]()
    odd = {c for c in text if not c.isprintable()} - {"\n", "\t"}
    # the word joiner stands in Markdown behind @ and #, and the thin space in the page's script; both are ours
    assert {unicodedata.name(c, repr(c)) for c in odd} <= {"WORD JOINER"}
    assert "\\u202e" in text
    text.encode()


def test_a_page_holds_no_escape_that_its_script_would_undo():
    text = RENDERED["html"]()
    data = text.partition('id="data">')[2].partition("</script>")[0]
    assert re.findall(r"(?<!\\)\\u(001b|202e|2066|0007|0000|dc80|009b|2028|0085)", data) == []
    assert re.findall(r"\\\\u202e", data)


def test_junit_is_read_back():
    root = ET.fromstring(junit.render(HEADER, RECORDS))
    (record,) = root.findall(".//property[@name='records']")
    assert record.attrib["value"] == str(len(RECORDS))


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "-inf"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_of_a_csv_file_is_a_formula(formula):
    worst = Worst(tensor=formula, index=(), got=-1.5, expected="-inf", bound=0.5)
    names = dict.fromkeys(("op", "dtype", "backend", "message", "diagnosis", "known", "repro"), formula)
    record = samples.result(formula, "forward", verdict="ERROR", worst=worst, units=-0.5, **names)
    (row,) = csv.DictReader(io.StringIO(csv_of([record]), newline=""))
    assert (row["got"], row["expected"], row["units"]) == ("-1.5", "-inf", "-0.5")  # numbers stay numbers
    for name, text in row.items():
        if name not in ("got", "expected", "units"):
            assert not text.startswith(("=", "+", "-", "@", "\t", "\r", "\n")), name
    assert row["message"] in (f"'{formula}", formula.replace("\r", "\\r"))


@pytest.mark.parametrize("name", ["terminal", "markdown", "html", "junit", "github", "csv"])
def test_a_reason_is_cut(name):
    long = samples.result("relu[x=3,;f32]", "forward", verdict="ERROR", message="é" * 10**6, diagnosis="ü" * 10**6)
    fault = replace(long, mode="gradient", verdict=Verdict.HARNESS_ERROR)
    render = {
        "terminal": terminal.format_summary,
        "markdown": markdown.render,
        "html": html.render,
        "junit": junit.render,
        "github": github.format_annotations,
        "csv": lambda _, records: csv_of(records),
    }[name]
    text = render(samples.header(2), [long, fault])
    assert 0 < text.count("é") < 5 * MAX_TEXT_BYTES
    assert "…" in text


def test_lone_surrogates_are_written_and_read(tmp_path, capsys):
    record = samples.result("relu[x=3,;f32]", "forward", verdict="ERROR", message="bad \udc80", backend="./\udcff.so")
    write_run(tmp_path, [record], backends=[{"spec": "./\udcff.so"}])
    header, (read,) = read_results(tmp_path)
    assert read == replace(record, message="bad \\udc80", backend="./\\udcff.so", repro=read.repro)
    assert header.backends == [{"spec": "./\\udcff.so"}]
    status, out, _ = opproof(capsys, "report", tmp_path, "--html", tmp_path / "r.html", "--csv", tmp_path / "r.csv")
    assert status == 1
    assert "bad \\udc80" in out


@pytest.mark.parametrize(
    ("change", "objection"),
    [
        ({"verdict": "NEW"}, "unknown verdict 'NEW', expected one of PASS, WRONG_VALUE, "),
        ({"verdict": "\u202eNEW"}, "unknown verdict '\\u202eNEW', "),
        ({"verdict": 3}, "not a result record (Expected `str`, got `int` - at `$.verdict`); remove that line"),
        ({"mode": "sideways"}, "not a result record (Invalid enum value 'sideways' - at `$.mode`); remove that line"),
        ({"units": "=1"}, "not a result record (expected a number, nan, inf or -inf, got '=1'); remove that line"),
        ({"worst": {"tensor": "y", "index": [], "got": "x", "expected": 1, "bound": 1}}, "expected a number, nan, inf"),
        ({"case": None}, "not a result record (Expected `str`, got `null` - at `$.case`); remove that line"),
    ],
)
@pytest.mark.parametrize("last", [True, False])
def test_a_record_that_is_none_is_one_sentence(tmp_path, change, objection, last):
    good = samples.result("relu[x=3,;f32]", "forward", units=1.0)
    write_run(tmp_path, [good, good] if last else [good, good, good], opproof="9.1")
    path = tmp_path / "results.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), **change})
    path.write_text("\n".join(lines), encoding="utf-8")  # without a last line end: yet a line that is whole
    with pytest.raises(ResultsError) as raised:
        read_results(tmp_path)
    assert str(raised.value).startswith(f"{path}, line 3: ")
    assert objection in str(raised.value)
    if "unknown verdict" in objection:
        assert str(raised.value).endswith("HARNESS_ERROR; read it with the opproof that wrote it, 9.1.")


def test_the_old_word_of_a_verdict_is_read_and_not_written(tmp_path):
    record = samples.result("relu[x=3,;f32]", "forward", verdict="VACUOUS")
    write_run(tmp_path, [record])
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("VACUOUS", "MISTRUSTED"), encoding="utf-8")
    _, (read,) = read_results(tmp_path)
    assert read.verdict is Verdict.VACUOUS is Verdict.MISTRUSTED
    assert b'"VACUOUS"' in encode_record(read)


def test_a_line_cut_short_is_left_out(tmp_path):
    good = samples.result("relu[x=3,;f32]", "forward", units=1.0)
    write_run(tmp_path, [good])
    with (tmp_path / "results.jsonl").open("ab") as file:
        write_line(file, good)
        whole = file.tell()
    for cut in (2, 5, 60, 120):
        with (tmp_path / "results.jsonl").open("r+b") as file:
            file.truncate(whole - cut)
        assert len(read_results(tmp_path)[1]) == 1
