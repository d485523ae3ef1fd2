"""What cases cover of their space is counted as it is: each level read back, and less of fewer cases."""

import contextlib
import json
import random
from types import SimpleNamespace

import pytest
from _runs import completed

from opproof.cases import Case, cases_of
from opproof.core.errors import CaseError
from opproof.harness.space import coverage
from opproof.harness.space.cost import draw_some, spaces_of
from opproof.harness.space.coverage import class_of, count_coverage, count_coverage_of_run, read_levels
from opproof.harness.space.draw import Limits, is_allowed
from opproof.harness.space.pairs import choose_levels
from opproof.reference_ops import load
from opproof.reports import Coverage


@pytest.mark.parametrize(
    "name",
    ["softmax", "rms_norm", "layer_norm", "conv2d", "matmul_quantized", "paged_attention", "get_rel_pos", "stack"],
)
def test_the_levels_of_what_is_drawn_are_read_back(name):
    read = 0
    for space in spaces_of(load(name)):
        rng = random.Random(1)
        for _ in range(25):
            choice = choose_levels(space.factors, lambda c, space=space: is_allowed(c, space, Limits()), rng)
            drawn = draw_some(choice, space, Limits()) if is_allowed(choice, space, Limits()) else None
            if drawn is not None:
                found = read_levels(drawn.case, space)
                assert found is not None
                assert found.keys() == choice.keys()
                other = {n: (choice[n], y) for n, y in found.items() if y != choice[n]}
                assert set(other.values()) <= {("loose", "contiguous")}, drawn.case  # where no axis is 1
                read += 1
    assert read >= 3


def test_a_level_without_effect_is_none():
    (space,) = spaces_of(load("add"))
    levels = read_levels(Case.parse("add[a=3x4;b=0d;f16;layout=transposed]"), space)
    sizes = {"size lead0": "few", "size lead1": "few", "size lead2": "none", "size lead3": "none"}
    layouts = {"layout a": "transposed", "layout b": "contiguous"}
    others = {"dtype": "f16", "fill": "normal", "broadcast": "second scalar", "again": "no"}
    assert levels == sizes | layouts | others | {n: levels[n] for n in levels.keys() & {"needs"}}


def test_a_case_of_another_form_has_no_level():
    case = Case.parse("matmul[a=4,;b=4x3;f32]")
    assert [read_levels(case, space) is None for space in spaces_of(load("matmul"))] == [True, False, True]


@pytest.mark.parametrize(
    ("size", "level"),
    [(1, "1"), (10, "16±"), (33, "16±"), (40, "16"), (41, "64±"), (72, "64"), (1000, "1k"), (99999, "64k±")],
)
def test_a_size_that_no_class_lists_counts_as_its_neighbours(size, level):
    assert class_of(size) == level


def test_one_case_covers_the_pairs_and_triples_of_its_levels():
    (space,) = spaces_of(load("tanh"))
    case = Case.parse("tanh[x=3x4;f32]")
    n = len(read_levels(case, space))
    whole = count_coverage(cases_of("tanh"), load("tanh"))
    one = count_coverage([case], load("tanh"))
    assert (one.pairs, one.triples) == (n * (n - 1) // 2, n * (n - 1) * (n - 2) // 6)
    assert (one.of_pairs, one.of_triples) == (whole.of_pairs, whole.of_triples)
    twice = count_coverage([case, case, Case.parse("tanh[x=3x4;f32;seed=5]")], load("tanh"))
    assert twice == one
    more = count_coverage([case, Case.parse("tanh[x=3x4;f16]")], load("tanh"))
    assert more.pairs == one.pairs + n - 1  # of another dtype and all else


def test_fewer_cases_cover_less():
    op = load("softmax")
    some = [count_coverage(cases_of("softmax", level), op) for level in ("smoke", "standard", "full")]
    assert some[0].pairs < some[1].pairs < some[2].pairs < some[2].of_pairs
    plain = count_coverage([c for c in cases_of("softmax") if c.layout == "contiguous"], op)
    assert plain.pairs < some[1].pairs


def test_an_operator_without_a_space_has_none():
    assert count_coverage(cases_of("acc"), load("acc")) == Coverage()


BACKEND = """
from opproof.backends.numpy import create

version, device = "1", "cpu"


def supports(op, dtypes, params):
    return "bf16" not in dtypes or "no bfloat16"


def forward(op, inputs, params):
    return create().forward(op, inputs, params)
"""


def test_a_report_says_what_was_covered_by_what_was_answered(tmp_path):
    (tmp_path / "half.py").write_text(BACKEND, encoding="utf-8")
    told = {}
    for name, more in {"all": (), "part": ("--dtype", "f16"), "smoke": ("--level", "smoke")}.items():
        call = ("run", "-b", "./half.py", "-o", "relu", "--mode", "forward", *more, "-j", "1", "--out", name)
        done = completed(*call, cwd=tmp_path)
        assert done.returncode in (0, 3), done.stdout + done.stderr
        header, *records = map(json.loads, (tmp_path / name / "results.jsonl").read_text().splitlines())
        answered = {Case.parse(r["case"]) for r in records if r["verdict"] != "UNSUPPORTED"}
        has = count_coverage(answered, load("relu"))
        assert header["coverage"] == {n: getattr(has, n) for n in ("pairs", "of_pairs", "triples", "of_triples")}
        line = next(line for line in done.stdout.splitlines() if line.startswith("covered: "))
        assert line.startswith(f"covered: {has.pairs:,} of {has.of_pairs:,} pairs of factor levels (")
        for report in ("report.md", "report.html"):
            assert line.removeprefix("covered: ") in (tmp_path / name / report).read_text(encoding="utf-8")
        told[name] = has
    assert told["smoke"].pairs < told["part"].pairs < told["all"].pairs
    assert told["all"].pairs < count_coverage(cases_of("relu"), load("relu")).pairs  # bfloat16 is declined


def test_shards_cover_together_what_the_run_does(tmp_path):
    own = ("run", "-b", "numpy", "-o", "relu", "--mode", "forward", "-j", "1", "--quiet")
    for out, more in {"whole": (), "a": ("--shard", "1/2"), "b": ("--shard", "2/2")}.items():
        completed(*own, *more, "--out", out, cwd=tmp_path)
    completed("merge", "a", "b", "--out", "both", cwd=tmp_path)

    def read(name):
        return json.loads((tmp_path / name / "results.jsonl").read_text().splitlines()[0])["coverage"]

    assert read("both") == read("whole")
    assert read("a")["pairs"] < read("whole")["pairs"] > read("b")["pairs"]


def test_a_run_that_goes_on_believes_records_under_the_header_with_coverage(tmp_path):
    call = ("run", "-b", "numpy", "-o", "relu", "--level", "smoke", "-j", "1", "--out", "r")
    completed(*call, cwd=tmp_path)
    done = completed("run", "--resume", "r", cwd=tmp_path)
    assert "have no mark" not in done.stderr
    assert "covered: " in done.stdout


@pytest.mark.parametrize(
    ("error", "hidden"), [(ImportError, True), (ZeroDivisionError, True), (CaseError, True), (RuntimeError, False)]
)
def test_errors_of_a_users_operator_are_hidden_and_no_others(monkeypatch, error, hidden):
    def fail(name, folders):
        if name == "bent":
            raise error("where was it again")
        return load(name)

    monkeypatch.setattr(coverage, "op_of", fail)
    records = [
        SimpleNamespace(op=op, case=f"{op}[x=3x4;f32]", mode="forward", verdict="PASS") for op in ("bent", "tanh")
    ]
    with contextlib.nullcontext() if hidden else pytest.raises(error):
        assert count_coverage_of_run(records, ()) == count_coverage([Case.parse("tanh[x=3x4;f32]")], load("tanh"))
