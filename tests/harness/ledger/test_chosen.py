"""Which entries speak of a run: none of a variant that does not say so, none of another version."""

import pytest

from opproof.harness.ledger import chosen
from opproof.harness.ledger.chosen import built_in, entries_for, not_inherited, of_versions
from opproof.harness.ledger.known import Known, read_known
from opproof.vocabulary.errors import UsageError

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
"""


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    path = tmp_path / "lib" / "known.toml"
    path.parent.mkdir()
    path.write_text(LEDGER, encoding="utf-8")
    monkeypatch.setattr(chosen, "LEDGERS", tmp_path)
    return path


@pytest.mark.parametrize(
    ("spec", "reasons"),
    [
        ("lib", ["of the default", "of both"]),
        ("lib:cuda", ["of variants", "of both"]),
        ("lib:/any/build", ["of variants"]),
        ("lib:eager", []),
        ("other", []),
        ("./lib.py", []),
    ],
)
def test_a_variant_inherits_nothing_that_does_not_say_so(ledger, spec, reasons):
    found = built_in(spec)
    assert [e.reason for e in found] == reasons
    assert all(e.specs == (spec,) for e in found)


def test_a_variants_run_says_what_it_does_not_use(ledger):
    sentence = (
        "lib:cuda does not inherit the 1 entry that lib's ledger has for its default; "
        f"--known {ledger} applies them too, `backends` in an entry for good."
    )
    assert not_inherited(["lib:cuda", "lib", "lib:cuda", "numpy"], None) == [sentence]
    assert not_inherited(["lib:cuda"], ledger) == []
    applied = [e for e in read_known(ledger) if e.covers_backend("lib:cuda")]
    assert [e.reason for e in applied] == ["of the default", "of variants", "of both"]


def test_entries_of_a_check(ledger):
    assert [place for place, _ in entries_for("lib:cuda", None)[1]] == [1, 2]
    assert [place for place, _ in entries_for("lib:cuda", ledger)[1]] == [0, 1, 2]
    with pytest.raises(UsageError, match=r"other comes without a ledger; give one with --known FILE\."):
        entries_for("other", None)


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
