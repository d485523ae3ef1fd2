"""The runs of benchmarks/processors.py: every pair of levels once, and what is clean is not made again."""

import importlib.util
import itertools
import json
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "processors.py"


@pytest.fixture(scope="module")
def processors():
    spec = importlib.util.spec_from_file_location("benchmarks_processors", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_every_pair_of_levels_is_in_twelve_runs(processors):
    rows = [{**variables, "seed": seed} for variables, seed in processors.of_torch()]
    levels = {**processors.LEVELS, "seed": processors.SEEDS}
    assert len(rows) == 12
    for one, other in itertools.combinations(levels, 2):
        assert {(row[one], row[other]) for row in rows} == {*itertools.product(levels[one], levels[other])}


def test_each_capability_of_the_others_runs_once_with_seeds_by_turns(processors):
    some = processors.settings(["jax", "numpy"], "standard", [], lambda _: ["sse4", "avx", "avx2", "avx512"])
    assert [(s.backend, s.isa, s.seed) for s in some[:4]] == [
        ("jax", "sse4", 0), ("jax", "avx", 1), ("jax", "avx2", 2), ("jax", "avx512", 0),
    ]  # fmt: skip
    assert len({s.name for s in some}) == len(some) == 8
    assert processors.said(some[2]) == "opproof run -b jax --level standard --seed 2 --isa avx2"


def test_a_variable_without_a_level_is_not_set(processors, monkeypatch):
    monkeypatch.setenv(processors.ONEDNN, "AVX2")
    some = processors.settings(["torch"], "smoke", ["relu"], list)
    own = next(
        s for s in some if dict(s.variables)[processors.ONEDNN] == "" and dict(s.variables)["OMP_NUM_THREADS"] == "2"
    )
    assert processors.ONEDNN not in processors.environment(own)
    assert processors.environment(own)["OMP_NUM_THREADS"] == "2"
    assert own.command[-2:] == ["--threads", "2"]


def test_what_is_clean_is_not_run_again(processors, monkeypatch, tmp_path, capsys):
    made = []

    def ran(setting, folder, jobs):
        made.append(setting.isa)
        failures = int(setting.isa == "avx" and len(made) == 2)
        return processors.Row(setting.name, "", failures, 10, failures, 0, 0, 0, 1.0)

    monkeypatch.setattr(processors, "ran", ran)
    monkeypatch.setattr(processors, "capabilities_of", lambda *_: {"sse4": {}, "avx": {}})
    path = tmp_path / "some.json"
    monkeypatch.setattr(sys, "argv", ["processors", "--only", "jax", "--json", str(path)])
    assert processors.main() == 1
    assert "1 of 2 runs are clean." in capsys.readouterr().out
    assert len(json.loads(path.read_text())["rows"]) == 2
    assert processors.main() == 0
    assert made == ["sse4", "avx", "avx"]


@pytest.mark.parametrize("changed", [{"exit": 1}, {"unexplained": 1}, {"complaints": 1}, {"records": 0}])
def test_a_run_is_clean_only_without_any_of_these(processors, changed):
    clean = {"exit": 0, "records": 10, "unexplained": 0, "known": 3, "complaints": 0, "notes": 1, "seconds": 1.0}
    assert processors.Row("a", "", **clean).is_clean
    assert not processors.Row("a", "", **clean | changed).is_clean


def test_a_run_is_read_as_it_ended(processors, tmp_path):
    (setting,) = processors.settings(["numpy"], "smoke", ["relu"], lambda _: ["avx2"])
    if "avx2" not in processors.capabilities_of("numpy", processors.HostLimits(1, 60.0, 2**32)):
        pytest.skip("this processor, or this NumPy, has no such level")
    row = processors.ran(setting, tmp_path, 1)
    assert row.is_clean
    assert row.exit == 0
    assert row.records > 0
