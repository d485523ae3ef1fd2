"""Unexpected failures become proposed entries of the ledger, without a reason: that is for a person to give."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from _runs import opproof

from opproof.harness.ledger.known import pattern_regex, read_known
from opproof.harness.ledger.proposals import add, propose, read
from opproof.vocabulary.errors import UsageError
from opproof.vocabulary.verdicts import FAILED

FAULTY = Path(__file__).parents[2] / "_faulty_backend.py"


def record(case, verdict="PASS", mode="forward", **more):
    return samples.result(case, mode, verdict=verdict, **more)


def table(*failing, passing=(), verdict="WRONG_VALUE"):
    return [*(record(c, verdict) for c in failing), *map(record, passing)]


@pytest.mark.parametrize(
    ("failing", "passing", "patterns"),
    [
        (["gelu[x=4,;f16]", "gelu[x=5,;f16]"], ["gelu[x=4,;f32]"], ["gelu[*;f16]"]),
        (["gelu[x=4x1;f16;fill=wide]", "gelu[x=5,;f16]"], ["gelu[x=4x1;f32]"], ["gelu[*;f16*"]),
        (["gelu[x=4,;f16]", "gelu[x=5,;f32]"], [], ["gelu[*"]),
        (["gelu[x=4,;f16]"], ["gelu[x=5,;f16]"], ["gelu[x=4,;f16]"]),
        (
            ["gelu[x=4,;f16;fill=wide]", "gelu[x=5,;f16;fill=wide]"],
            ["gelu[x=4,;f16]", "gelu[x=4,;f32;fill=wide]"],
            ["gelu[*;f16;fill=wide]"],
        ),
        (
            ["sum[x=4x4;dim=1;f16]", "sum[x=4x4;dim=1;f32]"],
            ["sum[x=4x4;dim=10;f16]", "sum[x=4x4;dim=0;f32]"],
            ["sum[*;dim=1;*"],
        ),
        (
            ["gelu[x=4,;f16]", "gelu[x=5,;f16]", "gelu[x=9,;f32;fill=wide]"],
            ["gelu[x=4,;f32]"],
            ["gelu[*;f16]", "gelu[x=9,;f32;fill=wide]"],
        ),
    ],
)
def test_patterns(failing, passing, patterns):
    found = [p.pattern for p in propose(table(*failing, passing=passing))]
    assert found == patterns
    for case in failing:
        assert any(pattern_regex(p).fullmatch(case) for p in found)
    assert not any(pattern_regex(p).fullmatch(case) for p in found for case in passing)


def test_over_a_whole_run_patterns_cover_all_failures_and_nothing_else():
    results = samples.run(8)
    found = propose(results)
    failing = [r for r in results if r.verdict in FAILED and not r.known]
    assert sum(len(p.results) for p in found) == len(failing)
    for p in found:
        first, regex = p.results[0], pattern_regex(p.pattern)
        same = [r for r in results if (r.backend, r.mode) == (first.backend, first.mode) and regex.fullmatch(r.case)]
        assert {r.verdict for r in same} == {first.verdict}


def test_modes_verdicts_and_backends_have_entries_of_their_own():
    wrong = record("gelu[x=4,;f16]", "WRONG_VALUE")
    results = [wrong, replace(wrong, mode="gradient", verdict="CRASH"), replace(wrong, backend="./b.so")]
    assert len(propose(results)) == 3
    assert propose([replace(wrong, known="yes"), record("gelu[x=4,;f32]", "UNSUPPORTED")]) == []


def test_reasons_are_left_to_a_person(tmp_path):
    ledger = tmp_path / "new" / "known.toml"
    failing = table("gelu[x=4,;f16]", "gelu[x=5,;f16]")
    odd = replace(failing[0], backend='C:\\lib "x".so', message="line\nbreak ]] [[known]]")
    said = add(ledger, read(ledger), [odd])
    assert said == f"{ledger}: 1 entry proposed; give each its reason, before which --known refuses the file."
    (entry,) = tomllib.loads(ledger.read_text(encoding="utf-8"))["known"]
    assert entry == {
        "pattern": "gelu[x=4,;f16]",
        "backend": odd.backend,
        "mode": "forward",
        "verdict": "WRONG_VALUE",
        "reason": "",
    }
    with pytest.raises(UsageError, match="pattern or reason is blank"):
        read_known(ledger)
    assert "nothing to propose" in add(ledger, read(ledger), [odd])
    add(ledger, read(ledger), [odd, *failing])
    assert len(tomllib.loads(ledger.read_text(encoding="utf-8"))["known"]) == 2
    text = ledger.read_text(encoding="utf-8").replace('reason = ""', 'reason = "an f16 table"')
    ledger.write_text(text, encoding="utf-8")
    assert [k.reason for k in read_known(ledger)] == ["an f16 table"] * 2


def test_a_run_proposes_and_keeps_what_stands_in_the_file(tmp_path, capsys):
    ledger = tmp_path / "known.toml"
    mine = '# mine\n[[known]]\npattern = "abs[*"\nmode = "gradient"\nreason = "transposed"\n'
    ledger.write_text(mine, encoding="utf-8")
    call = ["run", "-b", FAULTY, "-o", "abs", "--dtype", "f32", "--level", "smoke", "-j1", "--out", tmp_path / "out"]
    status, out, _ = opproof(capsys, *call, "--update-known", ledger)
    assert status == 1
    assert f"{ledger}: 1 entry proposed" in out
    text = ledger.read_text(encoding="utf-8")
    assert text.startswith(mine)
    (_, entry) = tomllib.loads(text)["known"]
    assert (entry["mode"], entry["verdict"], entry["reason"]) == ("forward", "WRONG_SHAPE", "")
    assert "output y has shape" in text
    ledger.write_text(text.replace('reason = ""', 'reason = "drops a column"'), encoding="utf-8")
    assert opproof(capsys, *call, "--known", ledger)[0] == 0


@pytest.mark.parametrize(("text", "said"), [("[[known", "is not TOML"), ("known = 3", "expected [[known]] tables")])
def test_a_spoilt_ledger_is_refused_before_the_run(tmp_path, capsys, text, said):
    ledger = tmp_path / "known.toml"
    ledger.write_text(text, encoding="utf-8")
    status, _, err = opproof(capsys, "run", "-b", "numpy", "--update-known", ledger)
    assert (status, err.count("\n")) == (2, 1)
    assert said in err
    assert ledger.read_text(encoding="utf-8") == text
