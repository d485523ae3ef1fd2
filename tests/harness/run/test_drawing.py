"""Runs that draw their cases: until time is up, the same for the same seed, ending with the smallest that fails."""

import itertools
from pathlib import Path

import pytest
from _runs import opproof

from opproof.cases import Case, cases_of
from opproof.harness.reference.valid_case import load_own
from opproof.harness.run.plan import DeclinedOperators, Selection, select_cases
from opproof.harness.space.stream import draw_on
from opproof.reference_ops import load
from opproof.reports import read_results

#: A negation that is wrong where the last of two axes or more is longer than 16.
BACKEND = """
import numpy as np

version, device = "1", "test"

def supports(op, dtypes, params):
    return op in ("neg", "abs") or "not here"

def forward(op, inputs, params):
    (x,) = inputs
    y = np.abs(x) if op == "abs" else -x
    if op == "neg" and x.ndim > 1 and x.shape[-1] > 16:
        y[..., 16:] = 0
    return y
"""


@pytest.fixture
def backend(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(BACKEND)
    return path


def run_for(capsys, backend, tmp_path, *options):
    given = ("-b", backend, "-o", "neg,abs", "--for", "1s", "--mode", "forward", "-j", "1", "--no-cache")
    return opproof(capsys, "run", *given, "--out", tmp_path / "out", *options)


def test_a_run_draws_until_its_time_is_up_and_ends_with_the_smallest_case(capsys, backend, tmp_path):
    kept = tmp_path / "regressions.txt"
    code, out, _ = run_for(capsys, backend, tmp_path, "--keep", kept)
    assert code == 1
    _, results = read_results(tmp_path / "out")
    assert {r.op for r in results} == {"neg", "abs"}
    assert not any(str(r.verdict).startswith("WRONG") for r in results if r.op == "abs")
    (smallest,) = (Case.parse(text) for text in kept.read_text().split("\n") if text)
    assert smallest.op == "neg"
    assert smallest.shapes["x"][-1] == 17
    assert smallest.shapes["x"][:-1] == (1,)
    assert f"smallest case that fails so: opproof run -b {backend} --mode forward --case '{smallest}'" in out
    assert f"1 case added to {kept}: `--cases {kept}` runs them again." in out
    code, out, _ = opproof(
        capsys, "run", "-b", backend, "--cases", kept, "--mode", "forward", "--out", tmp_path / "again"
    )
    assert code == 1
    assert "neg" in out


def test_the_draws_of_a_seed_are_the_same(capsys, backend, tmp_path):
    drawn = []
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        opproof(
            capsys,
            "run",
            "-b",
            backend,
            "-o",
            "abs",
            "--for",
            "1s",
            "--seed",
            seed,
            "-j",
            "1",
            "--out",
            tmp_path / name,
        )
        drawn.append({r.case.replace(f";seed={seed}", "") for r in read_results(tmp_path / name)[1]})
    assert len(drawn[0] & drawn[1]) >= 64
    assert len(drawn[0] & drawn[2]) < 16


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--for", "banana"), "'banana' is no time: expected a number of s, m or h, such as 10m."),
        (("--for", "-3s"), "'-3s' is no time"),
        (("--for", "nan"), "'nan' is no time"),
        (
            ("--for", "2s", "--case", "abs[x=3,;f32]"),
            "--for draws cases of its own; leave out --case, --cases, --level and --wrong-calls.",
        ),
        (("--for", "2s", "--level", "smoke"), "--for draws cases of its own"),
        (("--keep", "kept.txt"), "give --for as well, such as --for 10m."),
    ],
)
def test_a_wrong_call_is_one_sentence(capsys, backend, tmp_path, options, said):
    code, _, err = opproof(capsys, "run", "-b", backend, *options, "--out", tmp_path / "out")
    assert code == 2
    assert said in " ".join(err.split())


def test_cases_are_not_kept_where_nothing_can_be_written(capsys, backend, tmp_path):
    code, _, err = run_for(capsys, backend, tmp_path, "--keep", tmp_path / "none" / "kept.txt")
    assert code == 2
    assert "cannot add cases to" in err
    assert Path(tmp_path / "out" / "results.jsonl").is_file()


def test_a_run_stops_at_the_first_failure_where_asked(capsys, backend, tmp_path):
    given = ("run", "-b", backend, "-o", "abs,neg", "--mode", "forward", "-j", "1", "--no-cache")
    code, out, _ = opproof(capsys, *given, "-x", "--out", tmp_path / "out")
    _, results = read_results(tmp_path / "out")
    assert code == 1
    assert sum(str(r.verdict).startswith("WRONG") for r in results) == 1
    assert "of 5" in out or "planned" in out


def test_operators_that_the_backend_declines_are_drawn_no_more(capsys, backend, tmp_path):
    given = ("-b", backend, "-o", "neg,tan", "--for", "4s", "--mode", "forward", "-j", "1", "--no-cache")
    opproof(capsys, "run", *given, "--out", tmp_path / "out")
    declined = DeclinedOperators()
    for result in read_results(tmp_path / "out")[1]:
        declined.note(result)
    assert declined.names == {"tan"}
    drawn = draw_on([load("neg"), load("tan")], "0", lambda _: True, declined.names)
    assert {case.op for case in itertools.islice(drawn, 20)} == {"neg"}


OPERATOR = """\"\"\"doubled: 2 x.\"\"\"

STANDARD = ["x=3x4", "x=5,"]


def forward(x):
    return 2 * x


def vjp(g, y, x):
    return 2 * g
"""


def test_operators_of_a_user_are_drawn(tmp_path):
    (tmp_path / "doubled.py").write_text(OPERATOR, encoding="utf-8")
    (op,) = load_own(tmp_path)
    cases = list(itertools.islice(draw_on([op], "0", lambda _: True), 30))
    assert {case.op for case in cases} == {"doubled"}
    assert len(set(cases)) == 30


def test_operators_take_turns():
    chosen = select_cases(Selection(ops=("abs", "neg", "tanh")))
    assert [c.op for c in chosen[:9]] == ["abs", "neg", "tanh", "abs", "neg", "tanh", "abs", "abs", "neg"]
    assert {c.op for c in chosen[-9:]} == {"tanh"}
    assert set(chosen) == {c for name in ("abs", "neg", "tanh") for c in cases_of(name)}
