"""The families that live in 16 bits, and those of whole arrays: each dies, and lives where the bound is weakened."""

import numpy as np
import pytest
from _deep import few
from mutation.precision import Interior
from mutation.results import half_ulp_of, truncate_to
from mutation.trials import judge_mutant, make_trials, mutants_of, profile_of

from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.judge import array_statistics, bound
from opproof.reference_ops import load

#: One of each family in several operators, values and gradients.
KILLED = [
    ("softmax", "forward", "bf16", "times 1.02 before it is stored"),
    ("gelu", "forward", "bf16", "times 1.02 before it is stored"),
    ("gelu", "gradient", "f16", "times 1.003 before it is stored"),
    ("matmul", "forward", "f16", "times 1.002 before it is stored"),
    ("sort", "gradient", "bf16", "times 1.02 before it is stored"),
    ("layer_norm", "forward", "f32", "times 1 + 2^-20 before it is stored"),
    ("softmax", "gradient", "f32", "times 1 + 2^-20 before it is stored"),
    ("rms_norm", "forward", "bf16", "truncated where it is stored"),
    ("square", "gradient", "f16", "truncated where it is stored"),
    ("gelu", "forward", "f16", "half an ulp more before it is stored"),
    ("add", "gradient", "bf16", "half an ulp less before it is stored"),
    ("layer_norm", "forward", "bf16", "intermediates stored in bf16"),
    ("softmax", "forward", "f16", "intermediates stored in f16"),
    ("gelu", "forward", "f16", "constants rounded to f16"),
    ("leaky_relu", "gradient", "bf16", "constants rounded to bf16"),
    ("rms_norm", "forward", "f16", "eps rounded to f16"),
    ("elu", "forward", "bf16", "alpha rounded to bf16"),
    ("dot", "forward", "bf16", "sums accumulated in bf16"),
    ("mul", "forward", "f16", "a alone rounded to bf16"),
    ("matmul", "forward", "f32", "b alone rounded to f16"),
    ("gelu", "gradient", "f16", "the cotangent alone rounded to bf16"),
]


def fate_of(name, mode, dtype, mutant):
    op, mode = load(name), Mode(mode)
    posed = make_trials(op, mode, dtype, "standard")
    (found,) = [m for m in mutants_of(profile_of(op, mode, dtype, posed)) if m.name == mutant]
    return judge_mutant(found, posed)


@pytest.mark.parametrize(("name", "mode", "dtype", "mutant"), KILLED, ids=lambda v: v.replace(" ", "_"))
def test_it_dies(name, mode, dtype, mutant):
    assert fate_of(name, mode, dtype, mutant).killed_by


@pytest.mark.parametrize(
    ("name", "mode", "dtype", "mutant"),
    # Exact fills need no bound, nor the ones of a softmax of numbers far apart.
    few([row for row in KILLED if row[0] not in ("matmul", "sort", "mul", "dot", "add") and row != KILLED[0]], 6),
    ids=lambda v: v.replace(" ", "_"),
)
def test_it_lives_under_a_weak_bound(monkeypatch, name, mode, dtype, mutant):
    for module, constant in [
        *((bound, c) for c in ("C", "STORED")),
        *((array_statistics, c) for c in ("RMS", "BIAS")),
        (array_statistics, "MAX_LEAN_UNITS"),
    ]:
        monkeypatch.setattr(module, constant, 1e9)
    became = fate_of(name, mode, dtype, mutant)
    assert not became.killed_by
    assert became.shown > 0


def test_what_the_figures_of_an_array_alone_kill(monkeypatch):
    """Elements of a truncating store are within their bounds."""
    monkeypatch.setattr(array_statistics, "MAX_LEAN_UNITS", 1e9)
    monkeypatch.setattr(array_statistics, "BIAS", 1e9)
    became = fate_of("rms_norm", "forward", "bf16", "truncated where it is stored")
    assert not became.killed_by
    assert 0 < became.units < bound.STORED + 1e-3
    assert became.bias < -0.5


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_stores(name):
    dtype = DTYPES[name]
    wide = np.array([1 + 1.25 * dtype.u, -1 - 1.25 * dtype.u, 3.0, 0.0, np.inf, dtype.subnormal * 0.75])
    spacing = 2 * dtype.u  # at 1
    cut = truncate_to(wide, dtype)
    assert cut.tolist() == [1, -1, 3, 0, np.inf, 0]
    assert half_ulp_of(wide, dtype).tolist()[:5] == [spacing / 2, -spacing / 2, spacing, 0, 0]
    assert round_to(wide + half_ulp_of(wide, dtype), dtype)[0] == 1 + spacing
    assert np.all(round_to(cut, dtype) == cut)


def test_interior_arrays_round_what_they_say():
    seen = np.array([1.0, 2.0, 3.0], np.float32).view(Interior)
    seen.result = np.round
    seen.constant = lambda c: c + 1
    assert (seen * 0.25).tolist() == [1, 2, 4]
    assert (seen * 2).tolist() == [2, 4, 6]  # integers are exact in every dtype
    assert float(np.sum(seen * 0.25)) == 7
    assert float(np.mean(seen)) == 2
    seen += 0.25
    assert seen.tolist() == [2, 3, 4]
