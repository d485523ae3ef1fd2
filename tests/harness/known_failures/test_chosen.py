"""Which entries speak of a run: none of a variant that does not say so, none of another version."""

import platform

import pytest

from opproof.core.errors import UsageError
from opproof.harness.known_failures import findings
from opproof.harness.known_failures.causes import Where
from opproof.harness.known_failures.findings import find_entries, of_versions, read_built_in
from opproof.harness.known_failures.known import Known

LEDGER = """
[[known]]
patterns = ["relu[*f16*"]
reason = "of the default"
units = 10
[[known]]
patterns = ["relu[*f32*"]
backends = ["lib:cuda", "lib:/*"]
reason = "of variants"
units = 10
[[known]]
patterns = ["relu[*bf16*"]
backends = ["lib", "lib:cuda"]
reason = "of both"
units = 10
[[known]]
operators = ["relu"]
arithmetic = "f16"
reason = "executed"
"""


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    path = tmp_path / "lib" / "known.toml"
    path.parent.mkdir()
    path.write_text(LEDGER, encoding="utf-8")
    monkeypatch.setattr(findings, "LEDGERS", tmp_path)
    return path


@pytest.mark.parametrize(
    ("spec", "reasons"),
    [
        ("lib", ["of the default", "of both", "executed"]),
        ("lib:cuda", ["of variants", "of both", "executed"]),
        ("lib:/any/build", ["of variants", "executed"]),
        ("lib@Vulkan0", ["executed"]),
        ("lib:eager", ["executed"]),
        ("other", []),
        ("./lib.py", []),
    ],
)
def test_a_variant_inherits_what_is_executed_and_no_size_that_does_not_name_it(ledger, spec, reasons):
    found = read_built_in(spec)
    assert [e.reason for e in found] == reasons
    assert all(e.specs == (spec,) for e in found)


def test_entries_of_a_check(ledger):
    assert [place for place, _ in find_entries("lib:cuda", None)[1]] == [1, 2, 3]
    assert [place for place, _ in find_entries("lib:cuda", ledger)[1]] == [0, 1, 2, 3]
    with pytest.raises(UsageError, match=r"other comes without a ledger; give one with --known FILE\."):
        find_entries("other", None)


@pytest.mark.parametrize(
    ("version", "speaks"),
    [("2.13.0+cpu", True), ("2.13", True), ("2.130", False), ("2.1", False), ("2.14.0", False), ("3.0a1", True)],
)
def test_versions(version, speaks):
    entry = Known(pattern="a[*f16*", reason="r", units=1.0, versions=("2.13", "3.0a"))
    plain = Known(pattern="b[*f16*", reason="r", units=1.0)
    about = [{"spec": "lib", "version": version}]
    found, silent = of_versions([entry, entry, plain], about)
    assert len(found) == (3 if speaks else 1)
    sentence = f"2 known failures of lib were seen in other versions than {version}, and explain nothing in this run."
    assert silent == ([] if speaks else [sentence])


def test_of_two_backends_the_one_of_the_version_is_meant():
    entry = Known(pattern="a[*f16*", reason="r", units=1.0, versions=("2",))
    (found,), silent = of_versions([entry], [{"spec": "a", "version": "2.0"}, {"spec": "b", "version": "1"}])
    assert found.specs == ("a",)
    assert silent == ["1 known failure of b was seen in other versions than 1, and explains nothing in this run."]


def test_a_built_in_entry_of_another_version_is_silent():
    entry = Known(pattern="a[*f16*", reason="r", units=1.0, versions=("2",), built_in=True)
    assert of_versions([entry], [{"spec": "lib", "version": "1"}]) == ([], [])


def test_an_entry_of_another_machine_says_nothing():
    def chosen(**where):
        entry = Known(operators=("a",), arithmetic="f16", reason="r", where=Where(**where))
        return len(of_versions([entry], [{"spec": "lib", "version": "1"}])[0])

    assert chosen(machine=platform.machine()) == 1
    assert chosen(machine="pdp11") == 0
    assert chosen(features=("no such feature",)) == 0
    assert chosen(without=("no such feature",)) == 1
    assert Where(features=("avx2",)).holds("x86_64", ["avx2", "fma"])
    assert not Where(features=("avx2",), without=("fma",)).holds("x86_64", ["avx2", "fma"])
