"""The exit status, for every combination of what records can say."""

import itertools
from dataclasses import replace

import pytest
import report_samples as samples
from _runs import opproof, write_run

from opproof.core.verdicts import FAILED, Verdict
from opproof.harness.run.finish import Exit, status_of

PASS = samples.result("relu[x=3,;f32]", "forward")
KINDS = {
    "passed": PASS,
    "failed": replace(PASS, verdict="WRONG_VALUE"),
    "known": replace(PASS, verdict="WRONG_VALUE", known="signs are hard"),
    "declined": replace(PASS, verdict="UNSUPPORTED"),
    "vacuous": replace(PASS, verdict="VACUOUS"),
    "inconclusive": replace(PASS, verdict="INCONCLUSIVE"),
    "ours": replace(PASS, verdict="HARNESS_ERROR"),
}
CASES = [c for n in range(len(KINDS) + 1) for c in itertools.combinations(KINDS, n)]


def expected(kinds, *, complained=False, missing=False):
    if "failed" in kinds or complained or missing:
        return 1
    if "ours" in kinds:
        return 4
    return 0 if {"passed", "known"} & set(kinds) else 3


@pytest.mark.parametrize("kinds", CASES, ids="+".join)
def test_every_combination(kinds):
    results = [KINDS[k] for k in kinds]
    for order in (results, results[::-1], results * 2):
        assert status_of(order) == expected(kinds)
    assert status_of(results, ["the ledger is wrong"]) == 1
    assert status_of(results, missing=1) == 1


def test_the_numbers():
    """A shell and every CI file know them."""
    assert {e.name: int(e) for e in Exit} == {
        "PASSED": 0,
        "FAILED": 1,
        "WRONG_CALL": 2,
        "NO_EVIDENCE": 3,
        "HARNESS_ERROR": 4,
    }


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_alone(verdict):
    alone = {"PASS": 0, "UNSUPPORTED": 3, "VACUOUS": 3, "INCONCLUSIVE": 3, "HARNESS_ERROR": 4}
    assert status_of([replace(PASS, verdict=verdict)]) == alone.get(verdict, 1)
    assert (verdict in FAILED) is (verdict not in alone)


def test_a_verdict_of_another_version_is_a_failure():
    assert status_of([PASS, replace(PASS, verdict="WRONG_COLOUR")]) == 1


def test_of_what_opproof_failed_at_no_ledger_speaks():
    assert status_of([PASS, replace(KINDS["ours"], known="never mind")]) == 4


@pytest.mark.parametrize("kinds", [("passed",), ("failed", "ours"), ("passed", "ours"), ("vacuous",), ()])
def test_a_report_of_the_results_ends_alike(tmp_path, capsys, kinds):
    write_run(tmp_path, [replace(KINDS[k], case=f"relu[x={n},;f32]") for n, k in enumerate(kinds, start=3)])
    assert opproof(capsys, "report", tmp_path)[0] == expected(kinds)
