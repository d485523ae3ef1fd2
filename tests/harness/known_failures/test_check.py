"""`opproof known check`: entries too wide, too high, not seen; failures unexplained; limits written anew."""

from dataclasses import replace
from pathlib import Path

import pytest
from _runs import opproof

from opproof.harness.known_failures.causes import Where
from opproof.harness.known_failures.findings import check_entries, format_summary, format_table, rewrite
from opproof.harness.known_failures.known import Known, read_known
from opproof.harness.known_failures.limits import calculate_limit, limits_of
from opproof.reports import Result

FAULTY = Path(__file__).parents[2] / "_faulty_backend.py"


def result(case="gelu[x=7x33;f16]", verdict="WRONG_VALUE", units=40.0, mode="forward", **more):
    return Result(case=case, op="gelu", dtype="f16", backend="torch", mode=mode, verdict=verdict, units=units, **more)


def entry(pattern="gelu[*f16*", units=80.0, **fields):
    return Known(pattern=pattern, reason="an f16 table", units=units, **fields)


def said(known, results):
    return [text for c in check_entries([known], results) for text in c.objections]


@pytest.mark.parametrize(("seen", "limit"), [(3.14159, 6.2), (40.0, 80), (51.0, 100), (1234.5, 2400), (5e8, 1e9)])
def test_a_limit_is_at_most_twice_what_was_seen(seen, limit):
    assert calculate_limit(seen) == limit
    assert seen <= calculate_limit(seen) <= 2 * seen
    assert calculate_limit(0.0) == 1.0


def test_limits_say_what_was_seen():
    assert limits_of([result(rms=3.0), result(units=20.0)]).units == 80
    assert limits_of([result(rms=3.0)]).rms == 6
    assert limits_of([result(rms=3.0)]).share is None
    nan = limits_of([result(units="inf", nonfinite=2, share=0.1, rms=1.0)])
    assert (nan.units, nan.rms, nan.share, nan.nonfinite) == (None, None, None, True)
    both = limits_of([result(units="inf", nonfinite=2, share=0.1, finite_units=30.0)])
    assert (both.units, both.nonfinite) == (60, True)
    assert limits_of([result(units="inf", nonfinite=2, share=1.0)]).share == 1
    assert [limits_of([result(units="inf", share=s)]).share for s in (0.1, 0.6, 1.0)] == [0.2, 0.8, 1]
    zeros = limits_of([result(zeros=True)])
    assert (zeros.units, zeros.zeros) == (None, True)
    assert not any(vars(limits_of([result(verdict="CRASH", units=None)])).values())


def test_limits_explain_what_they_are_made_of():
    some = [result(rms=3.0), result(units="inf", nonfinite=2, share=0.1), result(zeros=True), result(units="inf")]
    for failures in ([r] for r in some):
        made = vars(limits_of(failures))
        assert Known(pattern="gelu[*f16*", reason="r", **made).explains(failures[0])


def test_nothing_to_object():
    assert said(entry(), [result(), result("gelu[x=5,;f16]", "PASS", 0.5)]) == []


def test_too_wide():
    passing = [result(f"gelu[x={n},;f16]", "PASS", 0.5) for n in (2, 3)]
    assert said(entry(), [result(), *passing]) == ["too wide: 2 cases of 3 never failed"]


def test_a_case_that_fails_with_one_seed_is_a_failing_one():
    seeds = [result(f"gelu[x=7x33;f16;seed={n}]", "PASS", 0.5) for n in (1, 2)]
    assert said(entry(), [result(), *seeds]) == []


def test_too_high():
    assert said(entry(units=80.5, rms=6.0), [result(rms=2.0)]) == [
        "too high: units = 80.5, at most 40 was seen",
        "too high: rms = 6, at most 2 was seen",
    ]


def test_not_seen():
    assert said(entry(), []) == ["not seen: it covers no case"]
    assert said(entry(), [result(verdict="PASS", units=0.5)]) == ["not seen: nothing failed so"]
    assert said(entry(nonfinite=True, zeros=True), [result()]) == [
        "not seen: nonfinite = true",
        "not seen: zeros = true",
    ]


@pytest.mark.parametrize("worse", [{"units": 81.0}, {"zeros": True}, {"verdict": "CRASH", "units": None}])
def test_unexplained(worse):
    found = said(entry(), [result(), result("gelu[x=5,;f16]", **worse)])
    verdict = worse.get("verdict", "WRONG_VALUE")
    assert found == [f"unexplained: 1 failure outside the limits, such as gelu[x=5,;f16] forward {verdict}"]


def test_what_another_entry_explains_is_explained():
    small, large = entry(units=80.0), entry("gelu[x=5,;*", units=8000.0)
    found = check_entries([small, large], [result(), result("gelu[x=5,;f16]", units=4000.0)])
    assert [c.objections for c in found] == [[], []]


def test_the_table():
    found = check_entries(
        [entry(), entry(units=None, verdict="CRASH")], [result(), result("gelu[x=5,;f16]", "PASS", 0.5)]
    )
    rows = [line.split() for line in format_table(found).splitlines()[2:]]
    assert rows == [["gelu[*f16*", "2", "1", "1", "40", "80"], ["gelu[*f16*", "2", "1", "1", "–", "CRASH"]]
    assert format_summary(found, 3) == "2 entries, 4 records over 3 seeds: 1 objection"


TEXT = """# a head
[[known]]  # the first
patterns = ["gelu[*f16*"]  # named
units = 1000  # not so many
reason = "r"

# between
[[known]]
reason = "s"
patterns = [
    "elu[*f16*",  # why
]
rms = 3
units = 5e4
"""


def test_limits_are_rewritten_in_place(tmp_path):
    path = tmp_path / "known.toml"
    path.write_text(TEXT, encoding="utf-8")
    rewrite(path, {0: {"units": 80.0}, 1: {"rms": 6.5}})
    assert path.read_text(encoding="utf-8") == TEXT.replace("1000", "80").replace("rms = 3", "rms = 6.5")
    assert [e.units for e in read_known(path)] == [80, 5e4]


def test_changes_are_made_where_limits_are_too_high_or_too_low():
    assert [c.changes for c in check_entries([entry(units=1e3)], [result()])] == [{"units": 80}]
    assert [c.changes for c in check_entries([entry(units=30.0)], [result()])] == [{"units": 80}]
    assert [c.changes for c in check_entries([entry(units=50.0)], [result()])] == [{}]
    assert [c.changes for c in check_entries([entry()], [])] == [{}]


def test_a_ledger_is_checked_by_running_what_it_covers(tmp_path, capsys):
    ledger = tmp_path / "known.toml"
    texts = [
        'patterns = ["abs[x=7x33;f32]"]',
        'modes = ["forward"]',
        'verdict = "WRONG_SHAPE"',
        'reason = "drops a column"',
    ]
    ledger.write_text("\n".join(("[[known]]", *texts)), encoding="utf-8")
    call = ["known", "check", "-b", FAULTY, "--known", ledger, "--seeds", 2, "-j1", "-o", "abs"]
    status, out, _ = opproof(capsys, *call)
    assert (status, "0 objections" in out) == (0, True), out
    ledger.write_text(ledger.read_text(encoding="utf-8").replace("SHAPE", "VALUE") + "\nunits = 5", encoding="utf-8")
    status, out, _ = opproof(capsys, *call)
    assert status == 1
    assert "known failure 'abs[x=7x33;f32]': not seen: nothing failed so" in out
    assert "unexplained: " in out


def cause(**fields):
    return Known(operators=("gelu",), arithmetic="f16", reason="an f16 table", **fields)


def test_what_is_said_of_a_cause():
    def said(*results):
        return [s for c in check_entries([cause()], results) for s in c.objections]

    explained = result(causes=("arithmetic=f16",))
    assert said(explained) == []
    assert said() == ["not seen: it covers no case"]
    assert said(result(verdict="PASS")) == ["not seen: it explained nothing"]
    (first, second) = said(explained, result(causes=("arithmetic=f16: ValueError: no such axis",)))
    assert first == "raised: arithmetic=f16: ValueError: no such axis"
    assert second.startswith("unexplained: 1 failure, such as gelu[")


def test_one_reason_in_two_forms_is_seen_in_either():
    """What is never written is wrong, or other from call to call: which of them is chance."""
    wrong, changing = cause(), Known(operators=("gelu",), verdict="NOT_REPEATABLE", when="w", reason="an f16 table")
    checks = check_entries([wrong, changing], [result(causes=("arithmetic=f16",))])
    assert [c.objections for c in checks] == [[], []]
    other = replace(changing, reason="another")
    assert check_entries([wrong, other], [result(causes=("arithmetic=f16",))])[1].objections == [
        "not seen: it explained nothing"
    ]


def test_a_run_is_checked_by_its_results(tmp_path, capsys):
    """An entry that explains, one that has nothing left to explain; both of a library of the user's own."""
    (tmp_path / "causes.py").write_text(SCALED, encoding="utf-8")
    ledger = tmp_path / "known.toml"
    ledger.write_text(LIST, encoding="utf-8")
    backend = tmp_path / "mine.py"
    backend.write_text(MINE, encoding="utf-8")
    call = ["run", "-b", backend, "-o", "tanh,relu", "--level", "smoke", "--dtype", "f32", "--mode", "forward"]
    out = tmp_path / "out"
    status, said, _ = opproof(capsys, *call, "--known", ledger, "--out", out)
    assert status == 1
    assert "known failure relu (forward=scale) no longer fails (PASS): remove it." in said
    status, said, _ = opproof(capsys, "known", "check", out, "--known", ledger)
    assert status == 1
    assert "known failure relu (forward=scale): not seen: it explained nothing" in said
    assert "known failure tanh (forward=scale)" not in said
    status, said, _ = opproof(capsys, "known", "check", out, "--known", ledger, "-o", "tanh")
    assert status == 0


SCALED = '''"""Of mine."""

import numpy as np


def scale(x):
    """Three times tanh."""
    return 3 * np.tanh(x)
'''
LIST = "".join(
    f'[[known]]\noperators = ["{op}"]\nforward = "scale"\nreason = "three times too large"\n' for op in ("tanh", "relu")
)
MINE = """
import numpy as np


def forward(op, inputs, params):
    return np.maximum(inputs[0], 0) if op == "relu" else inputs[0].dtype.type(3) * np.tanh(inputs[0])
"""


def test_of_operators_that_are_named_alone(tmp_path, capsys):
    """An entry that speaks of others too is not asked why theirs fail."""
    (tmp_path / "causes.py").write_text(SCALED, encoding="utf-8")
    ledger = tmp_path / "known.toml"
    table = LIST.partition('[[known]]\noperators = ["relu')[0]
    few = '["tanh", "relu"]\ndtypes = ["f64"]'
    ledger.write_text(table.replace('["tanh"]', few), encoding="utf-8")
    backend = tmp_path / "mine.py"
    backend.write_text(MINE.replace("np.maximum(inputs[0], 0)", "-inputs[0]"), encoding="utf-8")
    call = ["known", "check", "-b", backend, "--known", ledger, "--seeds", 1, "-j", 1]
    status, said, _ = opproof(capsys, *call, "-o", "tanh")
    assert (status, "unexplained" in said) == (0, False)
    status, said, _ = opproof(capsys, *call)
    assert (status, "such as relu[" in said) == (1, True)


def test_a_call_of_check_names_one_of_two(capsys, tmp_path):
    wrong = "opproof: give DIR, the folder of a run, or -b BACKEND, whose cases are run then; one of them.\n"
    assert opproof(capsys, "known", "check")[::2] == (2, wrong)
    assert opproof(capsys, "known", "check", tmp_path, "-b", "torch")[::2] == (2, wrong)
    status, _, err = opproof(capsys, "known", "check", tmp_path, "--write")
    assert (status, err.startswith("opproof: --write sets limits from several seeds")) == (2, True)


def test_a_backend_without_a_ledger(capsys):
    status, _, err = opproof(capsys, "known", "check", "-b", "numpy")
    assert (status, err) == (2, "opproof: numpy comes without a ledger; give one with --known FILE.\n")


@pytest.mark.parametrize(("seen_on", "missed"), [(Where(machine="pdp11"), False), (Where(), True)])
def test_what_shows_on_another_machine_is_not_missed(seen_on, missed):
    """It explains here as there, and a run of other cases says nothing of it."""
    shown = cause(seen_on=seen_on)
    sized = Known(pattern="gelu[*f16*", reason="r", units=9.0, without_cause="why", seen_on=seen_on)
    for entry, words in ((shown, "it explained nothing"), (sized, "nothing failed so")):
        (one,) = check_entries([entry], [result(verdict="PASS")])
        assert one.objections == ([f"not seen: {words}"] if missed else [])
    (one,) = check_entries([shown], [result(causes=("arithmetic=f16",))])
    assert (len(one.own), one.objections) == (1, [])
    (one,) = check_entries([shown], [])
    assert one.objections == (["not seen: it covers no case"] if missed else [])
