"""Mutants of the reference backend die, and would not under a judge that sees nothing."""

import json

import numpy as np
import pytest
from _deep import few
from click.testing import CliRunner
from mutation.__main__ import mutate_command
from mutation.mutant import Mutant
from mutation.report import (
    EQUIVALENT,
    Equivalent,
    rate,
    read_equivalent,
    render_declared_page,
    render_markdown_page,
    render_table,
    sort_fates,
)
from mutation.trials import (
    JUDGED,
    NARROW,
    TYPED,
    Fate,
    fates_of_mutants,
    judge_mutant,
    make_trials,
    mutants_of,
    of_op,
    profile_of,
)

from opproof.core.errors import UsageError
from opproof.core.text import dump_json
from opproof.core.verdicts import MODES, Mode, Verdict
from opproof.harness.judge.judgement import Judgement
from opproof.reference_ops import load

OPS = ("relu", "gelu", "matmul", "layer_norm", "index_add", "clamp")


def blind(*_):
    return Judgement("PASS")


@pytest.mark.parametrize("name", few(OPS, 4))
def test_every_mutant_dies(name):
    known = read_equivalent(EQUIVALENT)
    found = sort_fates(of_op(name, "standard"), known, complete=False)
    assert all(found.score(dtype=dtype).mutants > 70 for dtype in JUDGED)
    assert not found.survivors


@pytest.mark.filterwarnings("ignore")
def test_a_blind_judge_kills_nothing():
    found = list(fates_of_mutants(load("relu"), "smoke", judged_by=blind))
    assert found
    raised = [f for f in found if f.killed_by]
    assert not raised
    assert len(sort_fates(found, (), complete=False).survivors) > 50


def test_the_honest_backend_survives():
    """A mutant without a defect is never killed and is not counted; one that must show is missed."""
    for mode in MODES:
        posed = make_trials(load("softmax"), mode, "bf16", "smoke")
        honest = Mutant("none", lambda call: call.right, must_show=False)
        assert not judge_mutant(honest, posed).counts
        afresh = Mutant("none, computed again", lambda call: call.again())
        became = judge_mutant(afresh, posed)
        assert became.counts
        assert not became.killed_by


def test_a_tolerated_mutant_survives():
    """An error within the bound is not held against anybody."""
    posed = make_trials(load("exp"), Mode.FORWARD, "f32", "smoke")
    slight = Mutant("an ulp more", lambda call: [np.nextafter(y, np.float32(np.inf)) for y in call.right])
    became = judge_mutant(slight, posed)
    assert not became.killed_by
    assert became.shown > 0
    assert 0 < became.units < 16


def test_a_failing_reference_gives_no_credit(monkeypatch):
    """Where the honest backend fails a case itself, a mutant's failure there proves nothing."""

    def harsh(*_):
        return Judgement(Verdict.WRONG_VALUE)

    posed = make_trials(load("relu"), Mode.FORWARD, "f32", "smoke", harsh)
    doubled = Mutant("doubled", lambda call: [2 * y for y in call.right])
    assert not judge_mutant(doubled, posed).killed_by


def test_mutants_that_raise_are_killed():
    def raises(call):
        raise ValueError("no")

    posed = make_trials(load("relu"), Mode.FORWARD, "f32", "smoke")
    assert judge_mutant(Mutant("raises", raises), posed).killed_by


def test_too_short_a_suite_lets_mutants_live():
    """The smoke rows alone miss strides and what stands behind the first elements."""
    left = sort_fates(of_op("clamp", "smoke"), (), complete=False).survivors
    for dtype in JUDGED:
        names = {f.name for f in left if f.dtype == dtype}
        assert "forward: strides of x ignored" in names
        assert "forward: memory past element 256 zero" in names


def test_names_are_unique_and_every_family_is_there():
    op = load("softmax")
    posed = make_trials(op, Mode.GRADIENT, "f16", "standard")
    found = [m.name for m in mutants_of(profile_of(op, Mode.GRADIENT, "f16", posed))]
    assert len(found) == len(set(found))
    for name in ("zeros", "doubled", "one element zeroed", "one element times 1.02", "cotangent of ones",
                 "dim: next axis", "inputs rounded to bf16", "strides of x ignored", "storage offset of x ignored",
                 "the call before's results", "NaN where an input is beyond 80", "sums accumulated in f16",
                 "the cotangent alone rounded to bf16", "intermediates stored in f16", "constants rounded to f16",
                 "times 1.003 before it is stored", "truncated where it is stored",
                 "half an ulp more before it is stored"):  # fmt: skip
        assert name in found


@pytest.mark.parametrize(
    ("name", "there", "not_there"),
    [
        ("geglu", {"geglu_erf instead", "geglu_quick instead"}, {"swiglu instead"}),
        ("floor", {"-0 and 0 taken for a small negative number"}, {"the last of several equal elements"}),
        ("argsort", {"the last of several equal elements"}, {"-0 and 0 taken for a small negative number"}),
        ("topk", set(), {"the last of several equal elements"}),  # which one is left open
        ("index_add", {"repeated indices overwrite"}, set()),
        ("gather", set(), {"repeated indices overwrite"}),  # they do in its gradient alone
        ("gelu", {"approximate always tanh", "approximate always none"}, set()),
        ("pad", {"mode always reflect", "mode always constant"}, {"mode always neox"}),
        ("timestep_embedding", {"dim one more"}, {"dim: next axis"}),
    ],
)
def test_facts_make_mutants(name, there, not_there):
    op = load(name)
    posed = make_trials(op, Mode.FORWARD, "f32", "standard" if name in {"gelu", "pad"} else "smoke")
    found = {m.name for m in mutants_of(profile_of(op, Mode.FORWARD, "f32", posed))}
    assert there <= found
    assert not not_there & found


def became(name, killed="", dtype="f32", *, shown=1, must_show=True):
    return Fate("relu", "forward", dtype, name, killed, shown, must_show)


def test_sorting():
    known = (Equivalent(("relu",), "forward: slow*", "time is not judged"), Equivalent(("*",), "forward: idle", "?"))
    every = [became("doubled", "relu[x=7x33;f32]"), became("slow"), became("other")]
    found = sort_fates(every, known, complete=True)
    assert [f.mutant for f in found.survivors] == ["other"]
    assert [e.mutant for e in found.idle] == ["forward: idle"]
    assert found.score().killed == 1
    (summary,) = found.summary
    assert "f32: 1 of 3 mutants of 1 operators killed (50.00 %), 1 proved equivalent, 1 survive" in summary
    assert "50.00 %" in render_table(found)
    assert "time is not judged" in render_markdown_page(found)
    assert not sort_fates([], known, complete=False).idle


def test_a_dtype_that_kills_is_no_evidence_for_another():
    every = [became("doubled", "relu[x=7x33;f32]"), became("doubled", dtype="bf16")]
    found = sort_fates(every, (), complete=True)
    assert [f.dtype for f in found.survivors] == ["bf16"]
    assert [found.score(dtype=d).rate for d in ("f32", "bf16")] == ["100.00 %", "0.00 %"]
    assert "relu, bf16, forward: doubled" in render_markdown_page(found)


def test_an_equivalent_of_one_dtype():
    every = [became("doubled", dtype=dtype) for dtype in JUDGED]
    entry = Equivalent(("relu",), "forward: doubled", "half a spacing of bf16", dtypes=("bf16",))
    found = sort_fates(every, (entry,), complete=True)
    assert [f.dtype for f in found.survivors] == ["f32", "f16"]
    assert "| relu | forward: doubled | bf16 | 1 | half a spacing of bf16 |" in render_markdown_page(found)
    with pytest.raises(ValueError, match="f8"):
        Equivalent(("relu",), "forward: doubled", "?", dtypes=("f8",))


def test_only_what_changes_no_bit_is_not_counted():
    """A mutant that has to show and does not is a survivor; so is one whose answers differ by a bit and pass."""
    every = [
        became("no effect", shown=0, must_show=False),
        became("not shown", shown=0),
        became("a bit", shown=1, must_show=False),
    ]
    found = sort_fates(every, (), complete=True)
    assert [f.mutant for f in found.survivors] == ["not shown", "a bit"]
    assert found.score().without_effect == 1
    assert found.score().mutants == 2


def test_the_list_of_equivalents_is_complete(tmp_path):
    assert all(len(e.reason) > 20 for e in read_equivalent(EQUIVALENT))
    (tmp_path / "e.toml").write_text('[[equivalent]]\nop = ["relu"]\nmutant = "*"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="reason"):
        read_equivalent(tmp_path / "e.toml")


def test_command(tmp_path):
    page, data = tmp_path / "mutation.md", tmp_path / "mutation.json"
    words = ["-o", "relu", "--level", "smoke", "--markdown", str(page), "--json", str(data)]
    result = CliRunner().invoke(mutate_command, words, standalone_mode=False)
    assert result.return_value == 1
    assert "survives: relu f32 forward: strides of x ignored (no case shows it)" in result.output
    assert "| relu |" in page.read_text(encoding="utf-8")
    counts = json.loads(data.read_text(encoding="utf-8"))
    killed, mutants = counts["operators"]["relu"]["f32"]
    f32 = counts["dtypes"]["f32"]
    assert (killed, mutants) == (f32["killed"], f32["mutants"] - f32["equivalent"])
    assert f"| relu | {killed} of {mutants} | {rate(killed, mutants)} |" in page.read_text(encoding="utf-8")
    assert {f["mutant"] for f in counts["survivors"]} >= {"forward: strides of x ignored"}
    assert data.read_text(encoding="utf-8") == dump_json(counts)
    result = CliRunner().invoke(mutate_command, ["-o", "relu"], standalone_mode=False)
    assert result.return_value == 0
    assert result.output.count("(100.00 %)") == 3


def test_command_in_one_dtype():
    result = CliRunner().invoke(mutate_command, ["-o", "relu", "--dtype", "bf16"], standalone_mode=False)
    assert result.return_value == 0
    assert "\nbf16: " in result.output
    assert "\nf32: " not in result.output
    result = CliRunner().invoke(mutate_command, ["-o", "relu", "--dtype", "f8"], standalone_mode=False)
    assert isinstance(result.exception, UsageError)
    assert "judged in f32, f16, bf16" in str(result.exception)


TYPED_OPS = ("add", "matmul", "clamp", "sort", "gather")


@pytest.mark.parametrize("name", TYPED_OPS)
def test_mutants_of_other_dtypes_die(name):
    """Each that a row of the dtype shows; those of integers stand among them."""
    known = read_equivalent(EQUIVALENT)
    found = sort_fates(of_op(name, "standard", TYPED), known, complete=False)
    assert not found.survivors
    assert all(found.score(dtype=dtype).killed > 15 for dtype in found.dtypes)
    assert set(found.dtypes) >= {"i8", "i16", "i32", "u8"}


def test_whole_numbers_have_mutants_of_their_own():
    killed = {f.mutant for f in of_op("mul", "standard", ("i32", "i8", "u8")) if f.killed_by}
    assert killed >= {
        "results of 15 bits, the rest cut off",
        "results of 15 bits, larger ones at the end",
        "computed in float32",
        "results of 4 bits, the rest cut off",
    }
    assert "inputs read as unsigned" in {f.mutant for f in of_op("relu", "standard", ("i16",)) if f.killed_by}
    assert "inputs read as signed" in {f.mutant for f in of_op("gt", "standard", ("u8",)) if f.killed_by}


def test_a_blind_judge_kills_nothing_of_whole_numbers():
    found = list(fates_of_mutants(load("add"), "standard", ("i32",), judged_by=blind))
    assert not [f for f in found if f.killed_by]
    assert len(sort_fates(found, (), complete=False).survivors) > 20


def test_what_is_declared_allows_what_it_says_and_no_more():
    """A factor and another dtype on the way are no noise of 16-bit intermediates; one stored intermediate is."""
    found = {(f.dtype, f.mutant): f for f in of_op("gelu", "standard", NARROW, "storage") if f.mode == Mode.FORWARD}
    for dtype, mutant in (("bf16", "times 1.02 before it is stored"), ("f16", "results rounded to bf16")):
        assert found[dtype, mutant].killed_by, mutant
    for dtype in NARROW:
        assert not found[dtype, f"intermediates stored in {dtype}"].killed_by
    page = render_declared_page(sort_fates(list(found.values()), (), complete=False), "storage")
    assert "| f16 | forward: intermediates stored in f16 | 1 | 1 |" in page
    assert "times 1.02" not in page


def test_survivors_of_what_is_declared_are_counted_and_fail_nothing(tmp_path):
    page = tmp_path / "mutation-storage.md"
    call = ["-o", "add", "--level", "smoke", "--declared", "storage", "--markdown", str(page)]
    done = CliRunner().invoke(mutate_command, call, standalone_mode=False)
    assert done.return_value == 0
    assert "survives: add bf16" in done.output
    assert page.read_text(encoding="utf-8").startswith("# Mutation, where storage is declared")
