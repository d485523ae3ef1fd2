"""What a case needs of memory, and what is said where opproof's own limits are the reason of a failure."""

import re

import pytest

from opproof.cases import Case
from opproof.core.system import HOST_MEMORY
from opproof.core.verdicts import Mode, Verdict, describe_beyond, read_beyond
from opproof.harness.__main__ import main
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.memory import make_layout
from opproof.harness.run.memory_limits import bytes_of, bytes_of_inputs, explain_limit
from opproof.harness.run.request import Request, wanted_of
from opproof.harness.run.task import Task
from opproof.reference_ops import load
from opproof.reports import read_results

MIB = 2**20

BACKEND = """
import time

import numpy as np


def forward(op, inputs, params):
    (x,) = inputs
    if op == "neg":
        time.sleep(1.5)
    if op == "abs":
        held = np.ones(400 * 2**20, np.uint8)
        time.sleep(0.2 * held[-1])
    return np.maximum(x, x.dtype.type(0)) if op == "relu" else -x if op == "neg" else np.abs(x)
"""


def asked(text, mode):
    """The question of a case."""
    case = Case.parse(text)
    pair = make_fitting_question(case, load(case.op), mode)
    return case, Request(pair.case_data, wanted_of(pair.case_data, pair.outputs))


@pytest.mark.parametrize(
    ("text", "mode", "inputs", "every"),
    [
        ("relu[x=7x33;f32]", Mode.FORWARD, 4 * 231, 8 * 231),
        ("relu[x=7x33;f32]", Mode.GRADIENT, 4 * 231, 12 * 231),
        ("relu[x=7x33;bf16]", Mode.FORWARD, 2 * 231, 4 * 231),
        ("relu[x=7x33;f64]", Mode.FORWARD, 8 * 231, 16 * 231),
        ("relu[x=7x33;f32;layout=broadcast]", Mode.FORWARD, 4 * 33, 4 * 33 + 4 * 231),
        ("relu[x=7x33;f32;layout=sliced]", Mode.FORWARD, 4 * 461, 4 * 461 + 4 * 231),
        ("relu[x=7x33;f32;inplace=x]", Mode.FORWARD, 4 * 231, 4 * 231),
        ("mul[a=1x3;b=4x3;f16]", Mode.GRADIENT, 2 * 15, 2 * (15 + 12 + 15)),
        ("gt[a=7x33;b=7x33;f32]", Mode.FORWARD, 8 * 231, 9 * 231),  # truth values are bytes
    ],
)
def test_bytes_are_those_of_the_tensors_as_they_lie(text, mode, inputs, every):
    case, question = asked(text, mode)
    assert bytes_of_inputs(case, load(case.op)) == inputs
    assert bytes_of(question) == every
    buffers = make_layout(question, 1).buffers
    assert sum(b.end - b.start for b in buffers) == every


def test_indices_count_at_least_a_byte_each_before_they_are_drawn():
    case, question = asked("embedding[weight=50x8;indices=7,;f32]", Mode.FORWARD)
    assert bytes_of_inputs(case, load(case.op)) == 4 * 400 + 7
    assert bytes_of(question) >= 4 * 400 + 7 * 4 + 4 * 56


def test_large_cases_are_reckoned_without_their_numbers():
    case, question = asked("relu[x=700x4000;f32]", Mode.FORWARD)
    assert bytes_of(question) == 2 * bytes_of_inputs(case, load("relu")) == 8 * 2_800_000


def run(tmp_path, capfd, *args, out="out"):
    """Exit status, records and what was printed."""
    (tmp_path / "mine.py").write_text(BACKEND, encoding="utf-8")
    words = ["run", "-b", tmp_path / "mine.py", "--mode", "forward", "-j", 1, *args, "--out", tmp_path / out]
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return end.value.code, read_results(tmp_path / out)[1], capfd.readouterr().out


def test_a_limit_of_opproofs_own_is_told_with_what_is_needed_and_the_option(tmp_path, capfd):
    status, (found,), _ = run(tmp_path, capfd, "--case", "abs[x=700x500;f32]", "--memory", 300)
    assert (status, found.verdict) == (1, "OUT_OF_MEMORY")
    assert found.message == (
        "the process outgrew its limit of 300 MiB (its tensors take 2.7 MiB; --memory MIB raises the limit)"
    )
    status, (found,), _ = run(tmp_path, capfd, "--case", "neg[x=7x33;f32]", "--timeout", 1, out="slow")
    assert (status, found.verdict) == (1, "TIMEOUT")
    assert found.message == "no answer within 1 s (its tensors take 1.8 KiB; --timeout SECONDS raises the limit)"


def test_what_cannot_fit_is_declined_by_the_limit_and_told_once(tmp_path, capfd):
    by_inputs = [f"relu[x={n}x30000;f64]" for n in (300, 700)]  # 69 and 161 MiB, which need not be drawn
    large = ["relu[x=300x15000;f64]", *by_inputs]  # 35 MiB, and so many for the results
    small = "relu[x=7x33;f32]"
    status, records, out = run(
        tmp_path, capfd, *(word for case in [*large, small] for word in ("--case", case)), "--memory", 64
    )
    verdicts = {r.case: r.verdict for r in records}
    assert verdicts == {**dict.fromkeys(large, "UNSUPPORTED"), small: "PASS"}
    assert status == 0
    assert {r.message for r in records if r.case == large[0]} == {
        "its tensors alone take 69 MiB, more than --memory 64 allows"
    }
    assert not any(r.seconds for r in records if r.case in large)  # nobody was asked
    (line,) = [row for row in out.splitlines() if "not asked for" in row]
    assert line.startswith(
        "3 records not asked for: their tensors alone take up to 161 MiB, more than the limit of 64;"
        " give --memory above 161."
    )
    for text in (
        (tmp_path / "out" / "report.md").read_text("utf-8"),
        (tmp_path / "out" / "report.html").read_text("utf-8"),
    ):
        assert "3 records not asked for" in text


def test_with_the_option_it_is_judged(tmp_path, capfd):
    status, (found,), out = run(tmp_path, capfd, "--case", "relu[x=300x15000;f64]", "--memory", 1000)
    assert (status, found.verdict) == (0, "PASS")
    assert "not asked for" not in out


def test_an_operator_that_no_case_fits_is_not_told_of_twice(tmp_path, capfd):
    status, _, out = run(tmp_path, capfd, "--case", "relu[x=300x30000;f64]", "--memory", 64)
    assert status == 3  # nothing ran, which is no success
    assert "1 operator declined whole\n" in out
    assert len(re.findall(" MiB, more", out)) == 1


def test_without_a_process_of_its_own_there_is_no_limit(tmp_path, capfd):
    status, (found,), _ = run(tmp_path, capfd, "--case", "relu[x=300x15000;f64]", "--memory", 64, "--in-process")
    assert (status, found.verdict) == (0, "PASS")


def test_a_host_that_died_of_what_cannot_fit_is_not_to_blame():
    """One to which tensors travel is asked, for they may lie on another machine."""
    task, fault = Task("exec:mine", "relu[x=7x33;f32]", "forward"), HostFault(Verdict.OUT_OF_MEMORY, "it outgrew it")
    assert explain_limit(fault, task, HOST_MEMORY + 1, whole=True) == (
        Verdict.UNSUPPORTED,
        "its tensors alone take 4097 MiB, more than --memory 4096 allows",
    )
    assert explain_limit(fault, task, HOST_MEMORY, whole=True)[0] is Verdict.OUT_OF_MEMORY
    crash = HostFault(Verdict.CRASH, "it died of SIGSEGV")
    assert explain_limit(crash, task, HOST_MEMORY + 1, whole=True) == (Verdict.CRASH, crash.message)


def test_the_message_reads_back():
    assert read_beyond(describe_beyond(100 * MIB + 1, 64 * MIB)) == (101, 64)
    assert read_beyond("no relu on this device") is None
