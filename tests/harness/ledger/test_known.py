"""The ledger of known failures: what it explains, and everything it complains of."""

import datetime
import re
from pathlib import Path

import pytest

from opproof.harness.ledger.known import LEDGERS, Known, built_in, mark, objections, read_known
from opproof.reports import Result
from opproof.vocabulary.errors import UsageError
from opproof.vocabulary.verdicts import FAILED, Verdict

TODAY = datetime.date(2026, 7, 1)


def result(case="gelu[x=7x33;f16]", mode="forward", verdict="WRONG_VALUE", backend="torch", units=None):
    return Result(case=case, op="gelu", dtype="f16", backend=backend, mode=mode, verdict=verdict, units=units)


def entry(pattern="gelu[*f16*", **fields):
    return Known(pattern=pattern, reason="an f16 table", **fields)


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("gelu[x=7x33;f16]", True),
        ("gelu[*", True),
        ("*;f16]", True),
        ("gelu[*f16*", True),
        ("*", True),
        ("gelu", False),
        ("gelu[*f32*", False),
        ("gelu.x=7x33;f16.", False),
        ("elu[*", False),
    ],
)
def test_patterns(pattern, matches):
    assert entry(pattern).covers(result()) is matches


@pytest.mark.parametrize("verdict", sorted(FAILED))
def test_every_failure_can_be_known(verdict):
    assert mark(result(verdict=verdict), [entry()]).known == "an f16 table"


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - FAILED))
def test_what_is_no_failure_is_not_known(verdict):
    assert mark(result(verdict=verdict), [entry()]).known == ""


def test_fields_narrow_an_entry():
    assert mark(result(), [entry(mode="forward", backend="torch", verdict="WRONG_VALUE")]).known
    assert not mark(result(), [entry(mode="gradient")]).known
    assert not mark(result(), [entry(backend="ggml")]).known
    assert not mark(result(), [entry(verdict="CRASH")]).known


@pytest.mark.parametrize("units", [1000.5, 1e9, "inf", "nan", None])
def test_a_known_failure_that_grows_is_news(units):
    """`units` bounds how wrong it may be; what has no number is worse than any."""
    bounded = entry(units=1000.0)
    assert mark(result(units=1000.0), [bounded]).known
    assert not mark(result(units=units), [bounded]).known
    assert mark(result(units=units), [entry()]).known
    number = f"{float('inf') if units in (None, 'nan') else float(units):.3g}"
    said = f"fails with {number} units, more than its 1000: find out why, or give a larger number."
    assert objections([bounded], [result(units=units)], TODAY) == [f"known failure 'gelu[*f16*' {said}"]


def test_a_ledger_in_order():
    assert objections([entry()], [result()], TODAY) == []
    assert objections([entry(until=datetime.date(2026, 7, 2))], [result()], TODAY) == []


def test_an_entry_that_matches_nothing():
    said = ["known failure 'elu[*' matches no case of this run: remove it, or mend its pattern."]
    assert objections([entry("elu[*")], [result()], TODAY) == said
    assert objections([entry("elu[*")], [result()], TODAY, complete=False) == []


@pytest.mark.parametrize("verdict", ["PASS", "UNSUPPORTED", "MISTRUSTED"])
def test_a_known_failure_that_passes(verdict):
    said = [f"known failure 'gelu[*f16*' no longer fails ({verdict}): remove it."]
    assert objections([entry()], [result(verdict=verdict)], TODAY) == said
    assert objections([entry()], [result(verdict=verdict), result()], TODAY) == []
    assert objections([entry(always=False)], [result(verdict=verdict)], TODAY) == []


def test_another_failure_than_the_known_one():
    found = objections([entry(verdict="CRASH")], [result()], TODAY)
    assert found == ["known failure 'gelu[*f16*' no longer fails (WRONG_VALUE): remove it."]


@pytest.mark.parametrize("until", [TODAY, datetime.date(2020, 1, 1)])
@pytest.mark.parametrize("complete", [True, False])
def test_an_expired_entry(until, complete):
    said = [f"known failure 'gelu[*f16*' has expired on {until}: mend it, or give a new date with a reason."]
    assert objections([entry(until=until)], [result()], TODAY, complete=complete) == said


def test_reading(tmp_path):
    path = tmp_path / "known.toml"
    lines = ('pattern = "a[*"', 'reason = "r"', "until = 2027-01-01", 'link = "l"', 'mode = "gradient"')
    text = "\n".join(("[[known]]", *lines, "always = false", "units = 50"))
    path.write_text(text, encoding="utf-8")
    (found,) = read_known(path)
    assert (found.pattern, found.reason, found.link, found.mode, found.always) == ("a[*", "r", "l", "gradient", False)
    assert found.units == 50
    assert found.until == datetime.date(2027, 1, 1)
    path.write_text("", encoding="utf-8")
    assert read_known(path) == []


REQUIRED = 'pattern = "p"\nreason = "r"\n'
BAD = {
    "x = [": "{path} is not TOML: ",
    "[known]\npattern = 'p'": "{path}: expected [[known]] tables only, got known.",
    "known = [1]": "{path}, entry 1: expected a [[known]] table, got 1.",
    "[[unknown]]\npattern = 'p'": "{path}: expected [[known]] tables only, got unknown.",
    "[[known]]\nreason = 'r'": "{path}, entry 1: no pattern; every [[known]] table has pattern, reason.",
    "[[known]]\npattern = 'p'": "{path}, entry 1: no reason; every [[known]] table has pattern, reason.",
    "[[known]]": "{path}, entry 1: no pattern and no reason; every [[known]] table has pattern, reason.",
    "[[known]]\npattern = 'p'\nreason = ''": "{path}, entry 1: pattern or reason is blank; a known failure has",
    "[[known]]\npattern = 'p'\nreason = \" \\t\"": "{path}, entry 1: pattern or reason is blank; a known failure has",
    "[[known]]\npattern = ''\nreason = 'r'": "{path}, entry 1: pattern or reason is blank; a known failure has",
    "[[known]]\npattern = 'p'\nreason = 1": "{path}, entry 1: reason is 1; expected a str.",
    f"[[known]]\n{REQUIRED}[[known]]\n{REQUIRED}why = 'w'": "{path}, entry 2: unknown key 'why'; expected pattern, ",
    f"[[known]]\n{REQUIRED}mode = 1": "{path}, entry 1: mode is 1; expected one of forward, gradient",
    f"[[known]]\n{REQUIRED}mode = 'backward'": "{path}, entry 1: mode is 'backward'; expected one of forward, gradient",
    f"[[known]]\n{REQUIRED}units = nan": "{path}, entry 1: units is nan; expected more than 0, the largest error ",
    f"[[known]]\n{REQUIRED}units = -1": "{path}, entry 1: units is -1.0; expected more than 0, ",
    f"[[known]]\n{REQUIRED}units = -inf": "{path}, entry 1: units is -inf; expected more than 0, ",
    f"[[known]]\n{REQUIRED}units = 0": "{path}, entry 1: units is 0.0; expected more than 0, ",
    f"[[known]]\n{REQUIRED}always = 'no'": "{path}, entry 1: always is 'no'; expected a bool.",
    f"[[known]]\n{REQUIRED}verdict = 'HARNESS_ERROR'": "{path}, entry 1: verdict is 'HARNESS_ERROR'; expected one of ",
    f"[[known]]\n{REQUIRED}units = 'few'": "{path}, entry 1: units is 'few'; expected a float.",
    f"[[known]]\n{REQUIRED}units = true": "{path}, entry 1: units is True; expected a float.",
    f"[[known]]\n{REQUIRED}until = 'soon'": "{path}, entry 1: until is 'soon'; expected a date.",
    f"[[known]]\n{REQUIRED}until = 2027-01-01T00:00:00": "{path}, entry 1: until is datetime.datetime(2027, 1, 1, ",
    f"[[known]]\n{REQUIRED}verdict = 'WRONG'": "{path}, entry 1: verdict is 'WRONG'; expected one of CRASH, ERROR, ",
    f"[[known]]\n{REQUIRED}verdict = 'PASS'": "{path}, entry 1: verdict is 'PASS'; expected one of CRASH, ERROR, ",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_ledgers(tmp_path, text):
    path = tmp_path / "known.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(BAD[text].format(path=path))):
        read_known(path)


def test_missing_ledger(tmp_path):
    said = f"cannot read the ledger {tmp_path / 'none.toml'}: No such file or directory; give an existing file."
    with pytest.raises(UsageError, match=re.escape(said)):
        read_known(tmp_path / "none.toml")


@pytest.mark.parametrize("path", sorted(LEDGERS.glob("*/known.toml")), ids=lambda p: p.parent.name)
def test_ledgers_of_built_in_backends(path: Path):
    """They can be read, speak of their own backend, and give a reason that is more than a word."""
    found = read_known(path)
    assert found
    assert all(e.backend.partition(":")[0] in ("", path.parent.name) for e in found)
    assert {e.backend for e in built_in(path.parent.name)} <= {path.parent.name}
    assert all(len(e.reason.split()) > 1 for e in found)


def test_backend_without_ledger():
    assert built_in("./mine.py") == []
