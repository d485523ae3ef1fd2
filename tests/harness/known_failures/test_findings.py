"""What a run says of the ledger: what fails it, and what is only news."""

import datetime

import pytest

from opproof.harness.known_failures.findings import Extent, find_idle, find_ledger_errors, list_news, make_findings
from opproof.harness.known_failures.known import Known
from opproof.harness.run.plan import Selection, scope_of
from opproof.reports import Result

TODAY = datetime.date(2026, 7, 1)
EXTENTS = list(Extent)


def result(case="gelu[x=7x33;f16]", verdict="WRONG_VALUE", units=40.0, mode="forward", **more):
    op = case.partition("[")[0]
    return Result(case=case, op=op, dtype="f16", backend="torch", mode=mode, verdict=verdict, units=units, **more)


def entry(pattern="gelu[*f16*", units=1000.0, **fields):
    return Known(pattern=pattern, reason="an f16 table", units=units, **fields)


def said(known, results, extent=Extent.ALL):
    return find_ledger_errors(make_findings([known], results), results, TODAY, extent=extent)


def told(known, results):
    return list_news(make_findings([known], results))


def test_a_ledger_in_order():
    assert said(entry(), [result()]) == []
    assert said(entry(until=datetime.date(2026, 7, 2)), [result()]) == []
    assert told(entry(), [result()]) == []


@pytest.mark.parametrize("until", [TODAY, datetime.date(2020, 1, 1)])
@pytest.mark.parametrize("extent", EXTENTS)
def test_an_expired_entry(until, extent):
    sentence = f"known failure 'gelu[*f16*' has expired on {until}: mend it, or give a new date with a reason."
    assert said(entry(until=until), [result()], extent) == [sentence]


def test_an_entry_that_matches_nothing():
    sentence = "known failure 'elu[*f16*' matches no case of this run: remove it, or mend its pattern."
    assert said(entry("elu[*f16*"), [result()]) == [sentence]
    assert said(entry("elu[*f16*"), [result()], Extent.OPERATORS) == []
    assert said(entry("elu[*f16*"), [result()], Extent.PART) == []


@pytest.mark.parametrize("extent", EXTENTS)
def test_a_known_failure_that_passes_fails_every_run(extent):
    sentence = "known failure 'gelu[*f16*' no longer fails (PASS): remove it."
    mended = [result(verdict="PASS", units=0.5), result("gelu[x=5,;f16]", "PASS", 0.5)]
    assert said(entry(), mended, extent) == [sentence]
    assert said(entry(), [*mended, result("gelu[x=9,;f16]", "UNSUPPORTED", None)], extent)[0].endswith("remove it.")
    assert said(entry(built_in=True), mended, extent) == []


@pytest.mark.parametrize("verdict", ["UNSUPPORTED", "VACUOUS", "INCONCLUSIVE", "HARNESS_ERROR"])
def test_what_did_not_run_is_no_news_but_in_a_run_of_everything(verdict):
    sentence = f"known failure 'gelu[*f16*' no longer fails ({verdict}): remove it."
    assert said(entry(), [result(verdict=verdict, units=None)]) == [sentence]
    assert said(entry(), [result(verdict=verdict, units=None)], Extent.PART) == []


def test_another_failure_than_the_known_one():
    crash = [result(verdict="CRASH", units=None)]
    assert said(entry(), crash) == ["known failure 'gelu[*f16*' " + OUTSIDE]
    sentence = "fails in another way (CRASH): find out why, and give that an entry with its verdict."
    assert said(entry(verdict="WRONG_VALUE"), crash) == [f"known failure 'gelu[*f16*' {sentence}"]
    assert said(entry(verdict="WRONG_VALUE"), crash, Extent.PART) == []  # the crash itself fails the run


OUTSIDE = "fails with inf units, more than its 1000: find out why, or give a larger number."


@pytest.mark.parametrize("units", [1000.5, 1e9, "inf", "nan", None])
@pytest.mark.parametrize("extent", EXTENTS)
def test_a_known_failure_that_grows_is_news(units, extent):
    number = f"{float('inf') if units in (None, 'nan') else float(units):.3g}"
    sentence = f"fails with {number} units, more than its 1000: find out why, or give a larger number."
    assert said(entry(), [result(units=units)], extent) == [f"known failure 'gelu[*f16*' {sentence}"]


def test_zeros_where_another_failure_is_known():
    sentence = "fails outside its limits (zeros, nonfinite, share or rms): find out why, or mend the entry."
    assert said(entry(), [result(zeros=True)]) == [f"known failure 'gelu[*f16*' {sentence}"]


def test_what_another_entry_explains_needs_no_other_limit():
    assert said(entry(), [result(zeros=True, known="its rows are empty")]) == []
    assert len(said(entry(), [result(zeros=True, known="its rows are empty"), result(zeros=True)])) == 1


def test_mended_in_part_is_told():
    results = [result(), result("gelu[x=5,;f16]", "PASS", 0.5), result("gelu[x=6,;f16]", "UNSUPPORTED", None)]
    sentence = "is mended in part: 1 (gelu[x=5,;f16] forward) of 3 pass; leave them out of its patterns."
    assert told(entry(), results) == [f"known failure 'gelu[*f16*' {sentence}"]
    assert said(entry(), [*results, result("gelu[x=7,;f32]")], Extent.PART) == []
    assert told(entry(built_in=True), results) == []


def test_built_in_entries_that_explained_nothing_are_found():
    known = entry(built_in=True)
    assert find_idle(make_findings([known], [result(verdict="PASS", units=0.5)])) != []
    assert find_idle(make_findings([known], [result()])) == []
    assert find_idle(make_findings([known], [])) == []
    assert find_idle(make_findings([entry()], [result(verdict="PASS", units=0.5)])) == []


def cause(**fields):
    return Known(operators=("gelu",), arithmetic="f16", reason="an f16 table", **fields)


def test_a_cause_explains_what_a_judge_has_executed():
    assert cause().explains(result(causes=("arithmetic=f16",)))
    assert not cause().explains(result())
    assert not cause().explains(result(causes=("arithmetic=f16: ValueError: no such axis",)))
    assert not cause(dtypes=("f32",)).explains(result(causes=("arithmetic=f16",)))
    assert not cause().explains(result(verdict="CRASH", causes=("arithmetic=f16",)))


WRONG_TOO = "explains no failure: the answer is wrong under the changed reference too; find out why."


def test_a_cause_of_the_users_own_fails_closed():
    passing = [result(verdict="PASS", units=0.5)]
    assert said(cause(), passing) == ["known failure gelu (arithmetic=f16) no longer fails (PASS): remove it."]
    assert said(cause(), [result(), *passing], Extent.OPERATORS) == [f"known failure gelu (arithmetic=f16) {WRONG_TOO}"]
    assert said(cause(), [result(causes=("arithmetic=f16",)), *passing]) == []
    assert said(cause(built_in=True), [result(), *passing]) == []


def test_an_entry_that_covers_a_whole_operator_which_mostly_passes():
    passing = [result(f"gelu[x={n},;f16]", "PASS", 0.5) for n in (2, 3)]
    sentence = "is too wide: it covers 3 records of gelu, of which 2 pass; name fills, shapes or dtypes."
    for tried in (Extent.ALL, Extent.OPERATORS):
        assert said(entry(), [result(), *passing], tried) == [f"known failure 'gelu[*f16*' {sentence}"]
    assert said(entry(built_in=True), [result(), *passing]) == []
    assert said(entry(), [result(), *passing], Extent.PART) == []
    assert said(entry(), [result(), *passing, result("gelu[x=4,;f32]", "PASS", 0.5)]) == []
    assert said(entry(), [result(), result("gelu[x=8,;f16]"), *passing]) == []


def test_extents():
    assert scope_of(Selection()) is scope_of(Selection(level="full", seed=3)) is Extent.ALL
    assert scope_of(Selection(ops=("relu",))) is scope_of(Selection(modes=("forward",))) is Extent.OPERATORS
    parts = [{"keyword": "x"}, {"dtypes": ("f32",)}, {"cases": ("relu[x=2,]",)}, {"shard": "1/2"}, {"level": "smoke"}]
    assert {scope_of(Selection(ops=("relu",), **part)) for part in parts} == {Extent.PART}
