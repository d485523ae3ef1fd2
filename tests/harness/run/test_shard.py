"""Shards are disjoint, complete, balanced and stable; merge puts them together and says what is missing."""

import json
from collections import Counter
from dataclasses import replace

import pytest
import report_samples as samples
from _runs import opproof, write_run

from opproof.core.errors import UsageError
from opproof.harness.run.plan import Selection, make_tasks, parse, select_cases, shard_of
from opproof.reports import read_results

OPS = ("relu", "softmax", "sum", "matmul", "conv2d", "embedding")


def planned(shard="", ops=OPS, **more):
    selection = Selection(ops=ops, shard=shard, **more)
    return [(t.case, t.mode) for t in make_tasks(["numpy"], select_cases(selection), selection)]


@pytest.mark.parametrize("count", [1, 2, 5, 7])
def test_shards_are_disjoint_and_complete(count):
    whole = planned()
    parts = [planned(f"{k}/{count}") for k in range(1, count + 1)]
    assert sorted(task for part in parts for task in part) == sorted(whole)
    assert len(set(whole)) == len(whole)


def test_shards_are_balanced():
    ids = [(f"softmax[x={i}x33;dim=-1;f32]", mode) for i in range(6000) for mode in ("forward", "gradient")]
    sizes = Counter(shard_of(case, mode, 5) for case, mode in ids)
    assert set(sizes) == {1, 2, 3, 4, 5}
    # 12,000 records in 5: a standard deviation of 44.
    assert all(abs(size - 2400) < 4 * 44 for size in sizes.values())


def test_a_case_stays_in_its_shard_whatever_others_come():
    few, more = set(planned("2/5", ops=("softmax",))), set(planned("2/5", ops=("relu", "softmax", "sum")))
    assert few == {(case, mode) for case, mode in more if case.startswith("softmax[")}
    assert shard_of("softmax[x=7x33;dim=-1;f32]", "forward", 5) == 4  # the same in every version


@pytest.mark.parametrize("text", ["0/5", "6/5", "2", "a/b", "1/0", "-1/5", "2/5/1", ""])
def test_a_malformed_shard(text):
    with pytest.raises(UsageError, match="malformed shard"):
        parse(text)


def test_run_in_shards_and_merge(tmp_path, capsys):
    call = ["run", "-b", "numpy", "-o", "relu,softmax", "--level", "smoke", "-j1"]
    assert opproof(capsys, *call, "--out", tmp_path / "whole")[0] == 0
    parts = [tmp_path / f"part{k}" for k in (1, 2, 3)]
    for k, part in enumerate(parts, start=1):
        assert opproof(capsys, *call, "--shard", f"{k}/3", "--out", part)[0] == 0
    status, out, _ = opproof(capsys, "merge", *parts, "--out", tmp_path / "merged")
    assert status == 0
    assert "missing" not in out
    whole, merged = read_results(tmp_path / "whole"), read_results(tmp_path / "merged")
    key = lambda r: (r.case, r.mode)  # noqa: E731
    steady = [[replace(r, seconds=0, judging=0) for r in sorted(run[1], key=key)] for run in (whole, merged)]
    assert steady[0] == steady[1]
    assert merged[0].cases == whole[0].cases
    assert merged[0].options["selection"] == whole[0].options["selection"]
    assert (tmp_path / "merged" / "report.html").is_file()

    status, out, _ = opproof(capsys, "merge", *parts[:2], "--out", tmp_path / "some")
    assert status == 1
    left = len(read_results(parts[2])[1])
    assert f"missing: shard 3/3 on numpy: {left} records" in out
    assert opproof(capsys, "report", tmp_path / "some")[0] == 1


PASS = [samples.result(c, "forward", "numpy") for c in ("relu[x=7x33;f32]", "relu[x=7x33;f16]")]
HERE = {"ops": ["relu"], "modes": ["forward"], "dtypes": ["f32", "f16"], "level": "smoke", "seed": 0, "shard": ""}


def part(folder, results, selection=(), backends=("numpy",), **header):
    options = {"backends": list(backends), "selection": {**HERE, **dict(selection)}, "convention": "any"}
    about = [{"spec": b, "name": b, "version": "1"} for b in backends]
    return write_run(folder, results, **{"options": options, "backends": about, **header})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"opproof": "9"}, "the version of opproof is '0.1.0' and '9'"),
        ({"constants": {"C": 8.0}}, "and 'C = 8'"),
        ({"selection": {"seed": 3}}, "seed is 0 and 3"),
        ({"selection": {"level": "full"}}, "level is 'smoke' and 'full'"),
        ({"backends": ("numpy",), "backends_version": "2"}, "numpy has version '1' and '2'"),
        ({"options": {"backends": ["numpy"], "selection": HERE, "in_process": True}}, "in_process is None and True"),
    ],
)
def test_parts_of_different_runs_do_not_merge(tmp_path, capsys, changes, said):
    changes = dict(changes)
    part(tmp_path / "a", PASS[:1])
    if changes.pop("backends_version", None):
        part(tmp_path / "b", PASS[1:], backends=("numpy",))
        path = tmp_path / "b" / "results.jsonl"
        path.write_text(path.read_text(encoding="utf-8").replace('"version":"1"', '"version":"2"'), encoding="utf-8")
    else:
        part(tmp_path / "b", PASS[1:], **changes)
    status, _, err = opproof(capsys, "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out")
    assert (status, err.count("\n")) == (2, 1)
    assert said in err
    assert not (tmp_path / "out").exists()


def test_a_part_given_twice(tmp_path, capsys):
    part(tmp_path / "a", PASS)
    part(tmp_path / "b", PASS[1:])
    status, _, err = opproof(capsys, "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out")
    assert (status, err.count("\n")) == (2, 1)
    assert "both hold relu[x=7x33;f16] forward on numpy; give each part once." in err
    (tmp_path / "b").joinpath("results.jsonl").unlink()
    part(tmp_path / "b", [PASS[1], PASS[1]])
    status, _, err = opproof(capsys, "merge", tmp_path / "b", "--out", tmp_path / "out")
    assert (status, err.count("\n")) == (2, 1)
    assert f"{tmp_path / 'b'} holds relu[x=7x33;f16] forward on numpy twice; remove one of its two lines" in err
    assert not (tmp_path / "out").exists()
    status, _, err = opproof(capsys, "merge", tmp_path / "a", "--out", tmp_path / "a")
    assert (status, err.count("\n")) == (2, 1)
    assert "is one of the parts" in err


def test_a_record_that_a_part_holds_twice(tmp_path, capsys):
    part(tmp_path / "a", [*PASS, replace(PASS[0], verdict="WRONG_VALUE")])
    part(tmp_path / "b", [replace(r, backend="torch") for r in PASS], backends=("torch",))
    for parts in (["a"], ["a", "b"], ["b", "a"]):
        status, _, err = opproof(capsys, "merge", *(tmp_path / p for p in parts), "--out", tmp_path / "out")
        assert (status, err.count("\n")) == (2, 1)
        said = f"{tmp_path / 'a'} holds relu[x=7x33;f32] forward on numpy twice; remove one of its two lines from "
        assert f"{said}{tmp_path / 'a' / 'results.jsonl'}." in err
        assert not (tmp_path / "out").exists()
    status, _, err = opproof(capsys, "merge", tmp_path / "b", tmp_path / "b", "--out", tmp_path / "out")
    assert (status, err.count("\n")) == (2, 1)
    assert f"{tmp_path / 'b'} is given twice; give each part once." in err


def test_runs_of_several_backends_merge(tmp_path, capsys):
    part(tmp_path / "a", PASS)
    part(tmp_path / "b", [replace(r, backend="torch") for r in PASS], backends=("torch",))
    status, _, err = opproof(capsys, "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    header, results = read_results(tmp_path / "out")
    assert header.options["backends"] == ["numpy", "torch"]
    assert len(results) == header.cases == 4


def test_parts_whose_operators_are_not_here(tmp_path, capsys):
    """Which cases are missing is not known then, but that some are is."""
    away = {"folders": ["/nowhere/ops"]}
    part(tmp_path / "a", PASS[:1], {**away, "shard": "1/3"}, cases=5)
    part(tmp_path / "b", PASS[1:], {**away, "shard": "3/3"})
    status, out, _ = opproof(capsys, "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out")
    assert status == 1
    assert f"missing: {tmp_path / 'a'}: 4 of 5 records" in out
    assert "missing: shard 2/3: not given" in out


def test_an_empty_shard_is_a_part(tmp_path, capsys):
    call = ["run", "-b", "numpy", "--case", "relu[x=7x33;f32]", "--mode", "forward", "-j1"]
    home = shard_of("relu[x=7x33;f32]", "forward", 2)
    both = (home, 3 - home)
    statuses = [opproof(capsys, *call, "--shard", f"{k}/2", "--out", tmp_path / str(k))[0] for k in both]
    assert statuses == [0, 3]  # nothing run is no success
    head = json.loads((tmp_path / str(3 - home) / "results.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert head["cases"] == 0
    assert opproof(capsys, "merge", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "out")[0] == 0
