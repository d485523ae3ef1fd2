"""Mutants of the reference backend die, and would not under a judge that sees nothing."""

import numpy as np
import pytest
from click.testing import CliRunner

from opproof.cases import cases_of
from opproof.harness.commands.mutate import command
from opproof.harness.judge.judgement import Judgement, judge
from opproof.harness.prove.mutation.mutant import Mutant, mutants_of
from opproof.harness.prove.mutation.precision import _low, accumulated
from opproof.harness.prove.mutation.report import (
    EQUIVALENT,
    Equivalent,
    markdown_page,
    read_equivalent,
    sorted_out,
    table,
)
from opproof.harness.prove.mutation.runs import of_op
from opproof.harness.prove.mutation.trials import Fate, Trial, _fate, fates, profile, trials
from opproof.reference_ops import load
from opproof.vocabulary.errors import UsageError
from opproof.vocabulary.modes import MODES, Mode
from opproof.vocabulary.verdicts import Verdict

OPS = ("relu", "softmax", "matmul", "layer_norm", "index_add", "clamp")


def blind(*_):
    return Judgement("PASS")


@pytest.mark.parametrize("name", OPS)
def test_every_mutant_dies(name):
    known = read_equivalent(EQUIVALENT)
    found = sorted_out(of_op(name, "standard"), known, complete=False)
    assert len(found.fates) > 70
    assert not found.survivors


@pytest.mark.filterwarnings("ignore")
def test_a_blind_judge_kills_nothing():
    found = list(fates(load("relu"), "smoke", blind))
    assert found
    raised = [f for f in found if f.killed_by]
    assert not raised
    assert len(sorted_out(found, (), complete=False).survivors) > 50


def test_the_honest_backend_survives():
    """A mutant without a defect is never killed and is not counted; one that must show is missed."""
    for mode in MODES:
        posed = trials(load("softmax"), mode, "smoke")
        honest = Mutant("none", lambda call: call.right, must_show=False)
        assert not _fate(honest, load("softmax"), mode, posed).counts
        afresh = Mutant("none, computed again", lambda call: call.again())
        fate = _fate(afresh, load("softmax"), mode, posed)
        assert fate.counts
        assert not fate.killed_by


def test_a_tolerated_mutant_survives():
    """An error within the bound is not held against anybody."""
    posed = trials(load("exp"), Mode.FORWARD, "smoke")
    slight = Mutant(
        "an ulp more",
        lambda call: [np.nextafter(y, y.dtype.type(np.inf)) if y.dtype != "bfloat16" else y for y in call.right],
    )
    fate = _fate(slight, load("exp"), Mode.FORWARD, posed)
    assert not fate.killed_by
    assert fate.shown > 0
    assert 0 < fate.units < 16


def test_a_failing_reference_gives_no_credit(monkeypatch):
    """Where the honest backend fails a case itself, a mutant's failure there proves nothing."""

    def harsh(*_):
        return Judgement(Verdict.WRONG_VALUE)

    posed = trials(load("relu"), Mode.FORWARD, "smoke", harsh)
    doubled = Mutant("doubled", lambda call: [2 * y for y in call.right])
    assert not _fate(doubled, load("relu"), Mode.FORWARD, posed).killed_by


def test_mutants_that_raise_are_killed():
    def raises(call):
        raise ValueError("no")

    posed = trials(load("relu"), Mode.FORWARD, "smoke")
    assert _fate(Mutant("raises", raises), load("relu"), Mode.FORWARD, posed).killed_by


def test_too_short_a_suite_lets_mutants_live():
    """The smoke rows alone miss strides and what stands behind the first elements."""
    left = sorted_out(of_op("clamp", "smoke"), (), complete=False).survivors
    names = {f.name for f in left}
    assert "forward: strides of x ignored" in names
    assert "forward: memory past element 256 zero" in names


def test_names_are_unique_and_every_family_is_there():
    op = load("softmax")
    found = [m.name for m in mutants_of(profile(op, Mode.GRADIENT, trials(op, Mode.GRADIENT, "standard")))]
    assert len(found) == len(set(found))
    for name in ("zeros", "doubled", "2 % more", "one element zeroed", "one element times 1.001",
                 "cotangent of ones",
                 "dim: next axis", "inputs rounded to bf16", "strides of x ignored", "storage offset of x ignored",
                 "the call before's results", "NaN where an input is beyond 80",
                 "sums accumulated in f16"):  # fmt: skip
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
    posed = trials(op, Mode.FORWARD, "standard" if name in {"gelu", "pad"} else "smoke")
    found = {m.name for m in mutants_of(profile(op, Mode.FORWARD, posed))}
    assert there <= found
    assert not not_there & found


@pytest.mark.parametrize("name", ["conv1d", "conv2d_depthwise", "conv_transpose1d", "get_rows_back", "ssm_conv"])
def test_low_sums_die(name):
    """Whatever sums: products of matrices, einsum, additions at indices."""
    op = load(name)
    for mode in MODES:
        posed = trials(op, mode, "standard")
        found = {m.name: m for m in mutants_of(profile(op, mode, posed))}
        for dtype in ("f16", "bf16") if not op.is_exact(mode) else ():
            assert _fate(found[f"sums accumulated in {dtype}"], op, mode, posed).killed_by


@pytest.mark.filterwarnings("ignore")  # NumPy says that it is a mean of nothing
@pytest.mark.parametrize("name", ["sum", "var", "conv2d", "cross_entropy", "rms_norm", "scatter_add", "ssm_conv"])
def test_low_sums_of_nothing(name):
    """An exception would be a kill that no case deserves."""
    empty = [c for c in cases_of(name) if c.dtype == "f16" and any(0 in shape for shape in c.shapes.values())]
    assert empty
    for mode in MODES:
        for case in empty:
            accumulated("f16")(Trial(case, load(name), mode, judge).call)


def test_low_sums_are_low():
    """4099 ones are 2048 in float16, 256 in bfloat16, however they are added."""
    ones, where = np.ones((1, 4099), np.float32), np.zeros(4099, int)
    for dtype, total in (("f16", 2048), ("bf16", 256)):
        low = _low(ones, dtype)
        target = _low(np.zeros(1, np.float32), dtype)
        np.add.at(target, where, low[0])
        sums = [np.sum(low), np.mean(low) * 4099, low @ low.T, np.einsum("ij,kj->ik", low, low), target]
        assert [float(np.asarray(s).reshape(-1)[0]) for s in sums] == pytest.approx([total] * 5)
        assert float(np.asarray(np.cumsum(low, axis=1))[0, -1]) == total


def fate(name, killed=""):
    return Fate("relu", "forward", name, killed, shown=1, must_show=True)


def test_sorting():
    known = (Equivalent(("relu",), "forward: slow*", "time is not judged"), Equivalent(("*",), "forward: idle", "?"))
    found = sorted_out([fate("doubled", "relu[x=7x33;f32]"), fate("slow"), fate("other")], known, complete=True)
    assert [f.mutant for f in found.survivors] == ["other"]
    assert [e.mutant for e in found.idle] == ["forward: idle"]
    assert found.killed == 1
    assert "1 of 3 mutants of 1 operators killed (33.33 %)" in found.summary
    assert "50.0 %" in table(found)
    assert "time is not judged" in markdown_page(found)
    assert not sorted_out([], known, complete=False).idle


def test_the_list_of_equivalents_is_complete(tmp_path):
    assert all(len(e.reason) > 20 for e in read_equivalent(EQUIVALENT))
    (tmp_path / "e.toml").write_text('[[equivalent]]\nop = ["relu"]\nmutant = "*"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="reason"):
        read_equivalent(tmp_path / "e.toml")


def test_command(tmp_path):
    page = tmp_path / "mutation.md"
    result = CliRunner().invoke(
        command, ["-o", "relu", "--level", "smoke", "--markdown", str(page)], standalone_mode=False
    )
    assert result.return_value == 1
    assert "survives: relu forward: strides of x ignored (no case shows it)" in result.output
    assert "| relu |" in page.read_text(encoding="utf-8")
    result = CliRunner().invoke(command, ["-o", "relu"], standalone_mode=False)
    assert result.return_value == 0
    assert "100.00 %" in result.output
