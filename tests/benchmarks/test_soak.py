"""The study of false alarms: every judged record counts, what is above the constants has a class, or it fails."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from _runs import SELECTION, write_run
from _site import parts

from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.bound import STORED, C
from opproof.reports import Result

FILE = Path(__file__).parents[2] / "benchmarks" / "soak.py"
shown = parts["soak"]
PASSED = Result(
    case="relu[x=7x33;f32]", op="relu", dtype="f32", backend="torch", mode=Mode.FORWARD, verdict=Verdict.PASS,
    units=1.0, limit=C, rms=0.5, bias=0.1,
)  # fmt: skip
WRONG = replace(PASSED, case="gelu[x=7x33;f32]", op="gelu", verdict=Verdict.WRONG_VALUE, units=40.0)
DEFECT = '[[class]]\nbackend = "torch"\npatterns = ["gelu[*"]\nkind = "defect"\nsentence = "gelu of 1 is 2"\n'
ALARM = DEFECT.replace('"defect"', '"false alarm"')


@pytest.fixture(scope="module")
def soak():
    spec = importlib.util.spec_from_file_location("benchmarks_soak", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def run(soak, tmp_path, monkeypatch, capsys):
    """Exit status of the command and parts of its page, on runs of these records, one a seed."""

    def of(*runs, classes=""):
        folders = [_folder(tmp_path / f"run{seed}", records, seed) for seed, records in enumerate(runs)]
        (tmp_path / "classes.toml").write_text(classes)
        monkeypatch.setattr(soak, "CLASSES", tmp_path / "classes.toml")
        monkeypatch.setattr(sys, "argv", ["soak.py", *map(str, folders)])
        status, said = soak.main(), capsys.readouterr()
        if status == 2:
            return status, said.err
        data = json.loads(said.out)
        return status, "\n".join(
            part(data) for part in (shown.summary, shown.libraries, shown.distributions, shown.above)
        )

    return of


def _folder(folder, records, seed):
    backends = [{**samples.header(1).backends[0], "name": "torch", "version": "2"}]
    return write_run(folder, records, backends=backends, options={"selection": {**SELECTION, "seed": seed}})


def test_all_pass(run):
    status, page = run([PASSED], [PASSED])
    assert status == 0
    assert "| torch 2 | 0–1 | 2 | 0 | 0 | 0 | 0 |" in page
    assert "False alarms: 0 of 2, below 2e+00 a record (95 % confidence)." in page
    assert "not classified**" not in page


def test_what_no_entry_covers_fails(run):
    status, page = run([PASSED, WRONG])
    assert status == 1
    assert "| torch 2 | 0 | 2 | 1 | 0 | 0 | 1 |" in page
    assert "**torch, not classified** (1)" in page
    assert "- 40 units of 16, RMS 0.50, bias +0.10, forward, `gelu[x=7x33;f32]`" in page


def test_a_defect_is_no_false_alarm(run):
    status, page = run([PASSED, WRONG], classes=DEFECT)
    assert status == 0
    assert "**torch, defect: gelu of 1 is 2** (1)" in page
    assert "False alarms: 0 of 2" in page


def test_a_false_alarm_counts(run):
    status, page = run([PASSED] * 3 + [WRONG], classes=ALARM)
    assert status == 0
    assert "**torch, false alarm: gelu of 1 is 2** (1)" in page
    assert "False alarms: 1 of 4, 2.5e-01 a record." in page


def test_what_a_ledger_explains_counts_too(run):
    status, page = run([replace(WRONG, known="since always")])
    assert status == 0  # the ledger says what it is: a defect, for the reason that it gives
    assert "| torch 2 | 0 | 1 | 1 | 1 | 0 | 0 |" in page
    assert "**torch, defect: since always** (1)" in page


def test_unsupported_records_do_not_count(run):
    status, page = run([PASSED, replace(PASSED, verdict=Verdict.UNSUPPORTED, units=None, limit=None)])
    assert status == 0
    assert "| torch 2 | 0 | 1 |" in page


def test_an_entry_may_name_several_libraries(run):
    assert run([WRONG], classes=DEFECT.replace('"torch"', '"tor*"'))[0] == 0


@pytest.mark.parametrize("line", ['mode = "gradient"', 'backend = "jax"', 'patterns = ["gel[*"]'])
def test_an_entry_speaks_of_what_it_names_alone(run, line):
    key = line.partition(" ")[0]
    classes = "\n".join([*(own for own in DEFECT.splitlines() if not own.startswith(key)), line, ""])
    status, _ = run([WRONG], classes=classes)
    assert status == 1


@pytest.mark.parametrize("classes", [DEFECT.replace("gelu of 1 is 2", ""), DEFECT.replace('["gelu[*"]', "[]")])
def test_an_entry_without_a_word_is_refused(run, classes):
    status, page = run([WRONG], classes=classes)
    assert status == 2
    assert "patterns or sentence is empty" in page


def test_an_unknown_kind_is_refused(run):
    status, page = run([WRONG], classes=DEFECT.replace('"defect"', '"feature"'))
    assert status == 2
    assert "kind" in page


def test_a_folder_without_a_run_is_refused(soak, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["soak.py", str(tmp_path)])
    assert soak.main() == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_at_other_constants(soak):
    ten = replace(PASSED, units=10.0)
    assert [soak.fails(ten, "C", c) for c in (8, 12, 16)] == [True, False, False]
    assert [soak.fails(replace(PASSED, rms=2.2), "RMS", c) for c in (2, 2.5)] == [True, False]
    assert [soak.fails(replace(PASSED, bias=-1.2), "bias", c) for c in (1, 1.5)] == [True, False]
    assert not soak.fails(replace(PASSED, rms=None, bias=None), "RMS", 0.1)


def test_storing_keeps_its_part_at_other_constants(soak):
    """Of a limit half way between STORED and C, half of C's change arrives."""
    half = replace(PASSED, limit=(STORED + C) / 2, units=STORED + (12 - STORED) / 2 + 0.1)
    assert [soak.fails(half, "C", c) for c in (8, 12, 16)] == [True, True, False]
    stored = replace(PASSED, limit=STORED, units=1.9)
    assert not soak.fails(stored, "C", 8)


@pytest.mark.parametrize("record", [replace(WRONG, nonfinite=2, units=1.0), replace(WRONG, limit=0.0, units="inf")])
def test_what_is_not_a_matter_of_constants_fails_at_all(soak, record):
    assert soak.fails(record, "C", 1e9)


def test_the_file_of_classes_is_sound(soak):
    assert all(isinstance(entry, soak.Class) for entry in soak.read_entries(soak.CLASSES, "class", soak.Class))
