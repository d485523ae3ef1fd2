"""Unexpected failures become proposed entries of the ledger, without a reason: that is for a person to give."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from _runs import opproof

from opproof.core.errors import UsageError
from opproof.core.verdicts import FAILED
from opproof.harness.known_failures.known import matches, read_known, strip_seed
from opproof.harness.known_failures.proposals import add, format_entry, propose, read

FAULTY = Path(__file__).parents[2] / "_faulty_backend.py"


def record(case, verdict="PASS", mode="forward", **more):
    return samples.result(
        case, mode, **{"verdict": verdict, "units": 40.0 if verdict.startswith("WRONG_") else None, **more}
    )


def table(*failing, passing=(), verdict="WRONG_VALUE"):
    return [*(record(c, verdict) for c in failing), *map(record, passing)]


@pytest.mark.parametrize(
    ("failing", "passing", "patterns"),
    [
        (["gelu[x=4,;f16]", "gelu[x=5,;f16]"], ["gelu[x=4,;f32]"], ["gelu[*;f16]"]),
        (["gelu[x=4x1;f16;fill=wide]", "gelu[x=5,;f16]"], ["gelu[x=4x1;f32]"], ["gelu[*;f16*"]),
        (["gelu[x=4,;f16]", "gelu[x=5,;f32]"], [], ["gelu[x=4,;f16]", "gelu[x=5,;f32]"]),
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
    found = [p for proposal in propose(table(*failing, passing=passing)) for p in proposal.patterns]
    assert found == patterns
    for case in failing:
        assert any(matches(p, case) for p in found)
    assert not any(matches(p, case) for p in found for case in passing)


def test_over_a_whole_run_patterns_cover_all_failures_and_nothing_else():
    results = samples.run(8)
    found = propose(results)
    failing = [r for r in results if r.verdict in FAILED and not r.known]
    assert sum(len(p.results) for p in found) == len(failing)
    failed = {(r.mode, strip_seed(r.case)) for r in failing}  # of which some pass with another seed
    for p in found:
        first = p.results[0]
        like = [r for r in results if (r.backend, r.mode) == (first.backend, first.mode)]
        for pattern in p.patterns:
            same = [r for r in like if matches(pattern, r.case) and (r.mode, strip_seed(r.case)) not in failed]
            assert not same


def test_modes_verdicts_and_backends_have_entries_of_their_own():
    wrong = record("gelu[x=4,;f16]", "WRONG_VALUE")
    results = [wrong, replace(wrong, mode="gradient", verdict="CRASH"), replace(wrong, backend="./b.so")]
    assert len(propose(results)) == 3
    assert propose([replace(wrong, known="yes"), record("gelu[x=4,;f32]", "UNSUPPORTED")]) == []


def test_one_fault_of_every_case_is_the_whole_operators():
    crashing = [record(f"gelu[x={n},;f{n}]", "CRASH") for n in (16, 32)]
    assert [p.patterns for p in propose(crashing)] == [("gelu[*",)]


def test_patterns_leave_the_seed_out():
    failing = table("gelu[x=4,;f16;seed=3]", passing=["gelu[x=5,;f16;seed=3]"])
    assert [p.patterns for p in propose(failing)] == [("gelu[x=4,;f16]",)]


def entries(tmp_path, *results):
    """The proposed entries, as --known reads them when each has its reason."""
    ledger = tmp_path / "known.toml"
    add(ledger, [], results)
    ledger.write_text(ledger.read_text(encoding="utf-8").replace('reason = ""', 'reason = "r"'), encoding="utf-8")
    known = read_known(ledger)
    assert all(any(e.explains(r) for e in known) for r in results)
    return known


def test_errors_of_one_size_are_an_entry(tmp_path):
    """Each with a limit at most twice the largest, so that none explains what is ten times as large."""
    sizes = {"gelu[x=4,;f16]": 40.0, "elu[x=5,;f16]": 45.0, "gelu[x=6,;f16;fill=wide]": 48.0, "gelu[x=7,;f32]": 4e5}
    found = entries(tmp_path, *(record(case, "WRONG_VALUE", units=u, rms=u / 8) for case, u in sizes.items()))
    assert [(e.globs, e.units, e.rms) for e in found] == [
        (("elu[x=5,;f16]",), 90, 11),
        (("gelu[*;f16*",), 96, 12),
        (("gelu[x=7,;f32]",), 8e5, 1e5),
    ]


def test_numbers_that_are_none_zeros_and_indices_have_entries_of_their_own(tmp_path):
    found = entries(
        tmp_path,
        record("gelu[x=4,;f16]", "WRONG_VALUE"),
        record("gelu[x=5,;f16]", "WRONG_VALUE", units="inf", nonfinite=2, share=0.5),
        record("gelu[x=6,;f16]", "WRONG_VALUE", units="inf", nonfinite=6, share=1.0),
        record("gelu[x=7,;f16]", "WRONG_VALUE", units=2048.0, zeros=True, share=1.0),
        record("gelu[x=8,;f16]", "WRONG_VALUE", units="inf", share=0.125),
    )
    limits = {e.globs: {k: v for k, v in vars(e.limits).items() if v} for e in found}
    assert limits == {
        ("gelu[x=4,;f16]",): {"units": 80},
        ("gelu[x=5,;f16]",): {"nonfinite": True},
        ("gelu[x=6,;f16]",): {"nonfinite": True, "share": 1},
        ("gelu[x=7,;f16]",): {"zeros": True},
        ("gelu[x=8,;f16]",): {"share": 0.25},
    }


def test_reasons_are_left_to_a_person(tmp_path):
    ledger = tmp_path / "new" / "known.toml"
    failing = table("gelu[x=4,;f16]", "gelu[x=5,;f16]")
    odd = replace(failing[0], backend='C:\\lib "x".so', message="line\nbreak ]] [[known]]")
    said = add(ledger, read(ledger), [odd])
    assert said == f"{ledger}: 1 entry proposed; give each its reason, before which --known refuses the file."
    (entry,) = tomllib.loads(ledger.read_text(encoding="utf-8"))["known"]
    assert entry == {
        "patterns": ["gelu[x=4,;f16]"],
        "backends": [odd.backend],
        "modes": ["forward"],
        "verdict": "WRONG_VALUE",
        "units": 80,
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
    mine = '# mine\n[[known]]\npattern = "abs[*"\nmode = "gradient"\nverdict = "WRONG_SHAPE"\nreason = "transposed"\n'
    ledger.write_text(mine, encoding="utf-8")
    call = ["run", "-b", FAULTY, "-o", "abs", "--dtype", "f32", "--level", "smoke", "-j1", "--out", tmp_path / "out"]
    status, out, _ = opproof(capsys, *call, "--update-known", ledger)
    assert status == 1
    assert f"{ledger}: 1 entry proposed" in out
    text = ledger.read_text(encoding="utf-8")
    assert text.startswith(mine)
    (_, entry) = tomllib.loads(text)["known"]
    assert (entry["modes"], entry["verdict"], entry["reason"]) == (["forward"], "WRONG_SHAPE", "")
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


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("/home/me/venv/lib/python3.11/site-packages/mlx/nn/losses.py:119", "mlx/nn/losses.py:119"),
        ("/srv/packages/opproof/backends/mlx/reductions.py:16", "opproof/backends/mlx/reductions.py:16"),
        ("/srv/mine.py:16", "/srv/mine.py:16"),
    ],
)
def test_where_a_package_lies_on_this_machine_is_left_out(place, told):
    text = format_entry(["gelu[*"], [record("gelu[x=4,;f16]", "ERROR", message=f"ValueError: no rows ({place})")])
    assert f"# ValueError: no rows ({told})" in text.splitlines()
