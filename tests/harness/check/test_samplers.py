"""Candidates that draw: honest samplers pass, each defect is found by the check that is for it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import opproof
from opproof.core.errors import UsageError
from opproof.harness.check.judge import count_tests
from opproof.harness.check.judge.count_tests import DrawCounts, Laws, measure_fit, select_rejected
from opproof.harness.check.variants import sampler_variants

torch = pytest.importorskip("torch")
pytest.importorskip("jax")
pytest.importorskip("mlx.core")

_FILE = Path(__file__).parents[3] / "benchmarks" / "samplers.py"
_SPEC = importlib.util.spec_from_file_location("samplers_of_benchmarks", _FILE)
some = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = some  # where its dataclass looks for itself
_SPEC.loader.exec_module(some)
BY_NAME = {one.candidate.__name__: one for one in (*some.HONEST, *some.WRONG)}
#: What each defect is called, in the variant that shows it with few draws.
FOUND = {
    "off_by_one": ("steep", "never drawn, the least probable of"),
    "one_more": ("steep", "and its probability is 0"),
    "not_renormalised": ("repeated rows", "probabilities are not renormalised after a cut"),
    "temperature_twice": ("repeated rows", "to the power 1.4"),
    "shared_uniform": ("repeated rows", "depend on each other, as where rows share random numbers"),
    "fixed_seed": ("as given", "seeds give the same draws: another seed is to give others"),
    "first_row": ("as given", "and its probability is 0"),
    "noise_in_16_bits": ("bf16", "in a second series"),
    "no_residual": ("as given", "and its probability is 0"),
    "without_replacement": ("steep", "draws 1 apart depend on each other"),
    "dropout_unscaled": ("as given", "expected 0 or 0.147"),
    "dropout_of_columns": ("as given", "draws 64 apart depend on each other"),
    "dropout_of_the_rest": ("as given", "(p = 0, in a second series 0)"),
}


def judged(name, only="as given", seconds=0.02, **options):
    one = BY_NAME[name] if isinstance(name, str) else name
    given = {"like": "sampling", "probabilities": one.probabilities, "inputs": one.inputs, "raises": False}
    return opproof.check(one.candidate, **{**given, "only": only, "seconds": seconds, **options})


@pytest.mark.parametrize("name", [one.candidate.__name__ for one in some.WRONG])
def test_each_defect_is_found(name):
    only, text = FOUND[name]
    report = judged(name, only, seconds=0.1)
    assert set(report.failures) == {"WRONG_VALUE"}
    assert text in str(report), report


@pytest.mark.parametrize("name", [one.candidate.__name__ for one in some.HONEST])
def test_honest_samplers_pass(name, monkeypatch):
    monkeypatch.setattr(sampler_variants, "MAX_CALL_ELEMENTS", 1 << 17)
    report = judged(name, "repeated rows")
    assert report.ok, report
    assert report.draws > 1000
    assert f"{report.draws:,} draws" in report.sentence


def test_all_variants_of_one_are_tried_and_ties_are_cut_either_way(monkeypatch):
    monkeypatch.setattr(sampler_variants, "MAX_CALL_ELEMENTS", 1 << 13)
    report = judged("top_k_threshold", None, seconds=2)
    assert report.ok, report
    assert {"ties", "equal", "half masked", "vocabulary of 32000", "batch of 1", "bf16", "sliced", "k=49"} <= {
        *report.tried
    }
    assert "every row has one outcome" in report.no_evidence


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(26))
def test_honest_samplers_pass_with_many_seeds(seed):
    report = judged(some.HONEST[seed % len(some.HONEST)], None, seconds=4, seed=seed)
    assert report.ok, report


def softmax(logits):
    return torch.softmax(logits, -1)


def make(candidate):
    return some.Sampler(candidate, softmax, [(16, 20)])


def honest(logits):
    return torch.multinomial(softmax(logits.float()), 1)


def from_the_system(logits):
    generator = torch.Generator()
    generator.seed()
    return torch.multinomial(softmax(logits.float()), 1, generator=generator)


def test_the_same_seed_is_to_give_the_same_draw_but_where_that_is_declared():
    assert set(judged(make(from_the_system)).failures) == {"NOT_REPEATABLE"}
    assert judged(make(from_the_system), bits="vary").ok


def test_a_generator_goes_on():
    def anew(logits, generator):
        again = torch.Generator().manual_seed(generator.initial_seed())
        return torch.multinomial(softmax(logits.float()), 1, generator=again)

    assert "a second call without a new seed gives the draws of the first" in str(judged(make(anew)))


def test_what_came_is_looked_at_before_its_counts():
    assert set(judged(make(lambda x: honest(x).float())).failures) == {"WRONG_DTYPE"}
    assert set(judged(make(lambda x: honest(x)[:2])).failures) == {"WRONG_SHAPE"}
    assert "is -1: expected 0 to 19" in str(judged(make(lambda x: honest(x) - 1)))

    def raises(logits):
        raise RuntimeError("no such kernel")

    assert "RuntimeError: no such kernel" in str(judged(make(raises)))


def test_rows_have_laws_of_their_own_and_any_number_of_axes():
    def by_first_row(logits, temperature):
        return torch.multinomial(softmax(logits.float() / temperature.float()[0]), 1)

    def of_rows(logits, temperature):
        return softmax(logits / temperature)

    given = [torch.zeros(6, 20).normal_(generator=torch.Generator().manual_seed(0)), torch.linspace(0.3, 2, 6)[:, None]]
    assert not judged(some.Sampler(by_first_row, of_rows, given), "repeated rows").ok
    for shape in ((20,), (3, 4, 20)):
        found = judged(some.Sampler(lambda x: honest(x.reshape(-1, 20)).reshape(x.shape[:-1]), softmax, [shape]))
        assert found.ok, found
    assert judged(some.Sampler(torch.nn.Dropout(0.3), lambda x: some.dropout(x, 0.3), [(8, 16)])).candidate == "Dropout"


def test_inputs_stay_what_they_are_but_where_a_contract_lets_them_be_written():
    def scaling(logits):
        return honest(logits.mul_(1.0).add_(1.0))

    assert set(judged(make(scaling)).failures) == {"INPUT_CHANGED"}
    assert judged(make(scaling), overwrites=("logits",)).ok


def test_what_a_candidate_declines_is_no_failure():
    def of_one_size(logits):
        if logits.shape[-1] != 20:
            raise ValueError("made for 20 tokens")
        return honest(logits)

    assert "made for 20 tokens" in str(judged(make(of_one_size), "vocabulary of 31").not_judged)


@pytest.mark.parametrize(
    ("probabilities", "text"),
    [
        (torch.exp, "gives no probabilities: row 0 sums to"),
        (lambda x: softmax(x) - 1, "gives no probabilities: row 0 has -0.9"),
        (lambda x: softmax(x).sum(), r"gives \(\): expected probabilities along the last axis"),
        (lambda x: x.nothing, "raises AttributeError"),
        (None, "needs probabilities"),
    ],
)
def test_a_reference_without_probabilities_is_a_wrong_call(probabilities, text):
    with pytest.raises(UsageError, match=text):
        opproof.check(honest, like="sampling", probabilities=probabilities, inputs=[(6, 20)])


def test_options_that_mean_nothing_here_are_wrong_calls():
    for options, text in (
        ({"like": "sampling", "compute": "storage"}, "compute belongs to"),
        ({"like": "sampling", "only": "nothing"}, "there is no variant"),
        ({"like": softmax}, "probabilities belongs to"),
        ({"like": "sampler"}, "probabilities belongs to"),
    ):
        with pytest.raises(UsageError, match=text):
            opproof.check(honest, probabilities=softmax, inputs=[(6, 20)], **options)


_REFERENCE = """import torch

def probabilities(x):
    return torch.softmax(x, -1)

def inputs():
    return [(6, 20)]
"""
_RIGHT = """def candidate(x, *, generator):
    return torch.multinomial(torch.softmax(x.float(), -1), 1, generator=generator)
"""


def test_a_symbol_of_c_is_a_wrong_call():
    with pytest.raises(UsageError, match="takes no symbol of C"):
        opproof.check("c:./libmine.so:draw", like="sampling", probabilities=softmax, inputs=[(6, 20)])


def test_files_of_a_sampler(tmp_path):
    from opproof.harness.cli.check import check_command

    wrong = _RIGHT.replace("x.float()", "3 * x.float()")
    (tmp_path / "both.py").write_text(f"{_REFERENCE}\n{wrong}", encoding="utf-8")
    command = [str(tmp_path / "both.py"), "--only", "repeated rows", "--seconds", "0.2"]
    done = CliRunner().invoke(check_command, command, standalone_mode=False)
    assert done.return_value == 1, done.output
    assert re.search(r"to the power (2\.9\d|3|3\.0\d), renormalised", done.output), done.output


def test_p_values_are_those_of_exact_tests():
    p = np.array([0.5, 0.3, 0.15, 0.05])
    series = DrawCounts(Laws(p[None]), np.zeros(1000, np.int64), (1,))
    series.add(np.repeat([0, 1, 2, 3], [560, 240, 190, 10]))
    found = series.find_p_values()
    for token, count in ((0, 560), (1, 240), (2, 190), (3, 10)):
        exact = [stats.binomtest(count, 1000, p[token], alternative=side).pvalue for side in ("less", "greater")]
        assert found["token", 0, token] == pytest.approx(2 * min(exact), rel=1e-9)
    assert found["row", 0] == pytest.approx(
        stats.power_divergence([560, 240, 190, 10], 1000 * p, lambda_=0).pvalue, rel=0.1
    )


def test_holm_rejects_what_it_should():
    assert select_rejected({"a": 0.001, "b": 0.02, "c": 0.04}, 3, 0.05) == ["a", "b", "c"]
    assert select_rejected({"a": 0.001, "b": 0.03, "c": 0.04}, 3, 0.05) == ["a"]
    assert select_rejected({"a": 0.001}, 100, 0.05) == []
    assert pytest.approx(1e-9) == count_tests.FALSE_ALARM_RATE


def test_p_values_of_honest_counts_are_spread_evenly():
    rng, p = np.random.default_rng(0), np.array([0.4, 0.3, 0.2, 0.05, 0.03, 0.02])
    found = np.array([measure_fit(rng.multinomial(2000, p), p) for _ in range(4000)])
    for level in (0.5, 0.1, 0.01):
        assert (found < level).mean() == pytest.approx(level, abs=4 * (level / 4000) ** 0.5)
