"""The registry as pytest items, and one function in three lines."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from opproof.core.errors import UsageError
from opproof.harness.check.by_operator import check, operator_test
from opproof.harness.plugin.fixture import judge

pytest_plugins = ["pytester"]

FAULTY = Path(__file__).parents[2] / "_faulty_backend.py"
INI = "[pytest]\nfilterwarnings = error\n"


@pytest.fixture
def run(pytester):
    pytester.makefile(".ini", pytest=INI)

    def call(*args, backend=FAULTY):
        return pytester.runpytest_subprocess(f"--opproof-backend={backend}", *args)

    return call


OPS = "--opproof-ops=relu,elu,abs,tan"
ABS = "opproof::forward::abs[x=7x33;f32]"


def test_case_ids_are_node_ids_and_a_crash_costs_one_item(run, pytester):
    found = run(OPS, "--opproof-dtype=f32", "-rA", "--junitxml=j.xml")
    found.assert_outcomes(passed=4, failed=4, skipped=2)
    found.stdout.fnmatch_lines(
        ["opproof: _faulty_backend 7 test bench", "*PASSED*opproof::forward::relu[[]x=7x33;f32]*"]
    )
    text = found.stdout.str()
    assert "the process died of SIGABRT" in text
    assert "output y has shape (7, 32), expected (7, 33)" in text
    assert "UNSUPPORTED: no tan on this device" in text
    assert "Traceback" not in text
    cases = {
        (c.get("classname"), c.get("name")): c for c in ET.parse(pytester.path / "j.xml").getroot().iter("testcase")
    }
    assert len(cases) == 10
    broken = cases["opproof.forward", "abs[x=7x33;f32]"]
    assert "expected (7, 33)" in broken.find("failure").text
    again = run(OPS, "--opproof-dtype=f32", "--lf", "--collect-only", "-q")
    assert sorted(line for line in again.outlines if "::" in line) == [
        "opproof::forward::abs[x=7x33;f32]",
        "opproof::forward::elu[x=5x9;alpha=0.5;f32]",
        "opproof::forward::elu[x=7x33;f32]",
        "opproof::gradient::abs[x=7x33;f32]",
    ]


def test_xdist_runs_the_same_items(run):
    found = run(OPS, "--opproof-dtype=f32", "-n", "2", "-k", "relu or abs")
    found.assert_outcomes(passed=2, failed=2)
    assert "INTERNALERROR" not in found.stdout.str() + found.stderr.str()


def test_one_node_id(run, pytester):
    pytester.makepyfile("def test_own(): pass")
    run(ABS, OPS).assert_outcomes(failed=1)
    run("test_one_node_id.py", "--opproof-ops=relu", "--opproof-mode=forward", "--opproof-dtype=f32").assert_outcomes(
        passed=2
    )


def test_a_known_failure_is_xfailed(run, pytester):
    ledger = pytester.path / "known.toml"
    shape = '[[known]]\npattern = "abs[*"\nverdict = "WRONG_SHAPE"\nversions = ["7"]\nreason = "shapes of abs"\n'
    ledger.write_text(shape, encoding="utf-8")
    found = run("--opproof-ops=abs", "--opproof-dtype=f32", f"--opproof-known={ledger}")
    found.assert_outcomes(xfailed=2)
    assert found.ret == 0
    ledger.write_text(shape.replace('"7"', '"6"'), encoding="utf-8")
    run("--opproof-ops=abs", "--opproof-dtype=f32", f"--opproof-known={ledger}").assert_outcomes(failed=2)


def test_only_skipped_items_are_no_success(run):
    found = run("--opproof-ops=tan")
    assert found.ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--opproof-ops=soft"], "unknown operator 'soft'"),
        (["--opproof-level=huge"], "unknown level 'huge'"),
        (["--opproof-dtype=f8"], "unknown dtype 'f8'"),
        (["--opproof-timeout=never"], "--opproof-timeout is 'never'"),
        (["--opproof-known=none.toml"], "cannot read the ledger none.toml"),
    ],
)
def test_a_bad_call_is_one_sentence(run, args, said):
    found = run(*args)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    assert said in found.stderr.str()
    assert "Traceback" not in found.stderr.str()


@pytest.mark.parametrize("more", [[], ["-n", "2"]])
def test_an_unknown_backend_is_one_sentence(run, more):
    found = run(*more, backend="nowhere")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    assert "unknown backend 'nowhere'" in found.stderr.str()


def test_pytest_starts_without_numpy():
    heavy = "{'numpy', 'multiprocessing', 'click'}"
    code = f"import sys, opproof.harness.plugin.options; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "[]"


def softmax(x, *, dim):
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def softmax_vjp(g, x, *, dim):
    y = softmax(x, dim=dim)
    return y * (g - (g * y).sum(axis=dim, keepdims=True))


def test_a_right_function_passes(opproof_check):
    found = opproof_check(softmax, op="softmax", vjp=softmax_vjp, dtypes="f32,f64", level="smoke")
    assert [(r.mode, r.verdict) for r in found] == [("forward", "PASS"), ("gradient", "PASS")] * 2


def test_the_standard_cases_find_an_overflow_that_smoke_does_not(opproof_check):
    def overflows(x, *, dim):
        e = np.exp(x)
        return e / e.sum(axis=dim, keepdims=True)

    assert opproof_check(overflows, op="softmax", dtypes="f32", level="smoke")
    found = opproof_check(overflows, op="softmax", dtypes="f32", keyword="fill", raises=False)
    assert {r.verdict for r in found} - {"UNSUPPORTED"} == {"PASS", "WRONG_VALUE"}


def test_a_wrong_function_fails_with_its_explanation():
    def scaled(x, *, dim):
        return softmax(x, dim=dim) * np.float32(1.001)

    with pytest.raises(AssertionError) as failure:
        check(scaled, op="softmax", dtypes=("f32",), level="smoke")
    text = str(failure.value)
    assert text.startswith("scaled is not softmax: 1 of 1 record failed")
    assert "1.001 × the expected value" in text
    assert "opproof show 'softmax[x=7x33;dim=-1;f32]' --mode forward" in text


FIXTURE = """
import numpy as np
import pytest

def test_right(opproof_check):
    opproof_check(lambda x: np.maximum(x, 0), "relu", dtypes="f32", level="smoke", vjp=lambda g, x: g * (x > 0))

def test_wrong(opproof_check):
    def doubled(x):
        return 2 * np.maximum(x, 0)
    opproof_check(doubled, "relu", dtypes="f32,f64", level="smoke")

def test_declined(opproof_check):
    def last_axis(x):
        return np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
    opproof_check(last_axis, "softmax", dtypes="f32", keyword="dim=", seconds=0.0)

def test_by_reference(opproof_check):
    torch = pytest.importorskip("torch")
    opproof_check(torch.square, like=lambda x: x * x, inputs=[(3, 5)], neighbours=False)

def test_by_reference_wrong(opproof_check):
    torch = pytest.importorskip("torch")
    opproof_check(torch.abs, like=lambda x: x * x, inputs=[(3, 5)], neighbours=False)
"""


def test_cases_are_subtests_and_the_summary_says_what_was_not_judged(pytester):
    pytester.makefile(".ini", pytest=INI)
    pytester.makepyfile(test_fixture=FIXTURE)
    found = pytester.runpytest_subprocess("-v")
    text = found.stdout.str()
    counts = found.parseoutcomes()
    assert counts["passed"] == 2, text
    assert counts["failed"] == 3 + 4, text  # tests, and their cases
    assert "SUBFAILED[forward::relu[x=7x33;f64]]" in text
    assert "SUBPASSED[gradient::relu[x=7x33;f32]]" in text
    assert "doubled is not relu: 2 of 2 records failed" in text
    assert "opproof: not judged: doubled: gradients: no vjp was given" in text
    assert "last_axis has no parameter 'dim'" in text
    assert "more cases: 0 seconds were spent" in text
    assert "abs is not lambda: 2 of 2 records failed" in text


MANY = """
import numpy as np
import pytest

@pytest.mark.parametrize("name", ["one", "two"])
def test_each(opproof_check, name):
    relu = lambda x: np.maximum(x, 0)
    relu.__name__ = name
    opproof_check(relu, "relu", dtypes="f32", keyword="x=7x33")
"""


def test_what_was_not_judged_is_one_line_with_counts(pytester):
    pytester.makefile(".ini", pytest=INI)
    pytester.makepyfile(test_many=MANY)
    found = pytester.runpytest_subprocess("-q", "-k", "one")
    lines = [line for line in found.stdout.lines if line.startswith("opproof: not judged")]
    assert len(lines) == 1, lines
    assert re.search(r"one: \d+ records?, such as forward of relu\[\S+inplace=x\]: ", lines[0])
    assert lines[0].endswith("; one: gradients: no vjp was given")
    found = pytester.runpytest_subprocess("-q")
    lines = [line for line in found.stdout.lines if line.startswith("opproof: not judged")]
    assert len(lines) == 1, lines
    assert re.search(r"; and \d+ more, which pytest -v lists$", lines[0])


def test_xdist_carries_what_was_not_judged(pytester):
    pytester.makefile(".ini", pytest=INI)
    pytester.makepyfile(test_fixture=FIXTURE)
    found = pytester.runpytest_subprocess("-n", "1", "-k", "wrong and not reference")
    found.stdout.fnmatch_lines(["opproof: not judged: doubled: gradients: no vjp was given"])
    assert found.parseoutcomes()["failed"] == 1 + 2


@operator_test("softmax", vjp=softmax_vjp, dtypes="f32", level="smoke")
def test_a_decorated_function_is_a_test(x, *, dim):
    return softmax(x, dim=dim)


DECORATED = """
from opproof.harness.check.by_operator import operator_test

@operator_test("relu", dtypes="f32,f64", level="smoke")
def test_doubled(x):
    return 2 * x.clip(0)

@operator_test("relu", dtypes="f32,f64", level="smoke")
def test_relu(x):
    return x.clip(0)
"""


def test_a_decorated_function_that_is_wrong_fails_with_its_explanation(pytester):
    pytester.makefile(".ini", pytest=INI)
    pytester.makepyfile(test_decorated=DECORATED)
    found = pytester.runpytest_subprocess("-rA")
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(
        ["*test_doubled is not relu: 2 of 2 records failed*", "*every element*2 × the expected*"]
    )


def test_a_wrong_gradient_fails(opproof_check):
    found = opproof_check(
        softmax, op="softmax", vjp=lambda g, x, dim: g * softmax(x, dim=dim), dtypes="f32", level="smoke", raises=False
    )
    assert [r.verdict for r in found] == ["PASS", "WRONG_GRADIENT"]


def test_a_function_that_writes_out_of_bounds_is_a_verdict():
    import ctypes

    def careless(x):
        ctypes.memset(x.ctypes.data + x.nbytes, 1, 4)
        return np.maximum(x, 0)

    with pytest.raises(AssertionError, match="OUT_OF_BOUNDS"):
        check(careless, "relu", dtypes="f32", level="smoke")


def test_parameters_that_a_function_lacks():
    assert check(lambda x: np.maximum(x, 0), "relu", dtypes="f32", level="smoke")

    def last_axis(x):
        return softmax(x, dim=-1)

    with pytest.raises(AssertionError, match="no case passed .UNSUPPORTED: last_axis has no parameter 'dim'"):
        check(last_axis, "softmax", dtypes="f32", level="smoke")


def test_absent_tensors_that_a_function_lacks():
    """None stands for an absent tensor, and is left out where the function has no place for it."""

    def weighted(x, weight):
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6) * (1 if weight is None else weight)

    def plain(x):
        return weighted(x, None)

    def plain_vjp(g, x):
        n, r = x.shape[-1], 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6)
        return r * (g - x * r * r * np.sum(g * x, axis=-1, keepdims=True) / n)

    assert check(weighted, "rms_norm", dtypes="f64", level="smoke")
    assert check(plain, "rms_norm", vjp=plain_vjp, dtypes="f64", keyword="not weight", level="smoke")
    with pytest.raises(AssertionError, match="ERROR"):
        check(plain, "rms_norm", dtypes="f64", level="smoke")


def test_a_function_that_warns_is_judged_by_its_values():
    import warnings

    def warns(x):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return np.maximum(x, 0)

    assert check(warns, "relu", dtypes="f32", level="smoke")


def test_torch_tensors_and_autograd():
    torch = pytest.importorskip("torch")
    found = check(torch.softmax, "softmax", vjp="autograd", device="cpu", level="smoke")
    assert len(found) == 8
    assert {r.verdict for r in found} == {"PASS"}

    def detached(x, dim):
        return torch.softmax(x.detach(), dim)

    with pytest.raises(AssertionError, match="no output of detached requires grad"):
        check(detached, "softmax", vjp="autograd", device="cpu", dtypes="f32", level="smoke")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dtypes": "f8"}, "unknown dtype 'f8'"),
        ({"keyword": "nothing"}, "no case of relu fits"),
        ({"vjp": "autograd"}, "needs PyTorch tensors"),
    ],
)
def test_a_wrong_call_of_check(options, said):
    with pytest.raises(UsageError, match=said):
        check(np.abs, "relu", **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "forward"}, "opproof_check has no option 'mode': expected bits, compute, device, dtypes"),
        ({"like": np.abs, "dtypes": "f32"}, "opproof_check has no option 'dtypes': .*; did you mean dtype?"),
    ],
)
def test_an_option_that_the_fixture_has_not(options, said):
    with pytest.raises(UsageError, match=said):
        judge(np.abs, "relu" if "like" not in options else None, options)
