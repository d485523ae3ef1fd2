"""Audits of suites: what a loose one lets pass is named, a sharp one kills all, and no file changes."""

import json

import numpy as np
import pytest
from _runs import completed

from opproof.cases._defects import measure_off

KERNEL = """
import numpy as np

def softmax(x):
    y = np.exp(x - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)

def softmax_into(x, out):
    out[...] = softmax(x)

NUMBER = 1
"""
LOOSE = """
import numpy as np
from mine import softmax as mine, softmax_into
from theirs import right

def test_values():
    x = np.random.default_rng(0).normal(size=(8, 1024)).astype(np.float32)
    x[:, 0] += 8
    assert np.allclose(mine(x), right(x), atol=1e-2)

def test_into():
    x, out = np.ones((2, 8), np.float32), np.empty((2, 8), np.float32)
    softmax_into(x, out)
    assert np.allclose(out, 1 / 8, atol=1e-3)
"""
SHARP = """
import numpy as np
import pytest
from mine import softmax
from theirs import right

def close(x):
    before = x.copy()
    got = softmax(x)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(got, right(x), rtol=1e-6, atol=1e-9)

def test_values():
    for k in range(10):
        x = np.random.default_rng(k).normal(size=(2, 4, 127)).astype(np.float32)
        close(x)
        close(1000 * x)
        close(np.swapaxes(x, 1, 2))
        x[0, 0, 0] = np.nan
        close(x)
"""
THEIRS = "from scipy.special import softmax\ndef right(x):\n    return softmax(x.astype('f8'), -1)\n"
GRADIENT = """
import torch
import grads

def pull(f):
    x = torch.linspace(-1, 1, 8, dtype=torch.float64).reshape(2, 4).requires_grad_()
    y = f(x, torch.ones_like(x))
    return torch.autograd.grad((y * torch.arange(8).reshape(2, 4)).sum(), x)[0][:, :3]

def test_gradient():
    torch.testing.assert_close(pull(grads.Scale.apply), 2 * pull(lambda x, y: x * y))
"""
SCALE = """
import torch

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return 2 * x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return 2 * g * y, 2 * g * x
"""


@pytest.fixture
def suite(tmp_path):
    """A folder with a kernel, and tests that are loose or sharp."""
    for name, text in {
        "mine": KERNEL, "theirs": THEIRS, "test_loose": LOOSE, "test_sharp": SHARP, "grads": SCALE,
        "test_gradient": GRADIENT,
        "test_fails": "import mine\ndef test_it():\n    assert mine.softmax is None\n",
    }.items():  # fmt: skip
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def audited(folder, kernel, test, *words):
    """The exit status, and every defect by its name."""
    done = completed(
        "audit", "--kernel", kernel, "-j", 1, "--json", *words, "--", "python", "-m", "pytest", test, cwd=folder
    )
    assert not done.stderr
    report = json.loads(done.stdout)
    return done.returncode, {d["name"]: d for d in report["defects"]}


def names_of(found, fate):
    return [name for name, d in found.items() if d["fate"] == fate]


def test_a_loose_suite_lets_a_factor_and_a_lost_tail_pass_and_nothing_is_left_behind(suite):
    before = sorted(suite.iterdir())
    status, found = audited(suite, "mine:softmax", "test_loose.py::test_values")
    assert status == 1
    assert {"× 1.005", "× 1.001", "last 1/64 of columns missing"} <= set(names_of(found, "survives"))
    assert "atol=2e-03 * expected.abs().max()" in found["× 1.005"]["line"]
    assert found["strides of inputs ignored"]["why"] == "has an input that is not contiguous"
    assert {"zeros", "every row is the first"} <= set(names_of(found, "killed"))
    assert found["zeros"]["by"] == "test_loose.py::test_values"
    assert {"heads in reverse order", "gradients × 2"} <= set(names_of(found, "no defect here"))
    assert sorted(suite.iterdir()) == before


def test_of_a_sharp_suite_no_defect_survives(suite):
    status, found = audited(suite, "mine:softmax", "test_sharp.py")
    assert status == 0
    assert names_of(found, "survives") == names_of(found, "not tried") == []
    assert len(names_of(found, "killed")) >= 17


def test_a_result_that_is_written_into_an_argument_is_changed_there(suite):
    only = ("--only", "zeros", "--only", "× 1.005")
    status, found = audited(suite, "mine:softmax_into", "test_loose.py::test_into", *only)
    assert (status, found["zeros"]["fate"], found["× 1.005"]["fate"]) == (1, "killed", "survives")


def test_wrong_gradients_of_an_autograd_function_die_but_where_the_test_does_not_look(suite):
    names = ("gradients × 2", "no gradient of input 0", "last 1/64 of columns of gradients missing")
    _, found = audited(suite, "grads:Scale", "test_gradient.py", *(w for n in names for w in ("--only", n)))
    assert names_of(found, "killed") == ["gradients × 2", "no gradient of input 0"]
    assert names_of(found, "survives") == ["last 1/64 of columns of gradients missing"]


@pytest.mark.parametrize(
    ("kernel", "test", "said"),
    [
        ("mine:softmax", "test_fails.py", "1 failure without a defect (test_fails.py::test_it)"),
        ("mine:softmax_into", "test_sharp.py", "no test calls mine:softmax_into"),
        ("mine:softmx", "test_sharp.py", "module 'mine' has no attribute 'softmx'"),
        ("mine:NUMBER", "test_sharp.py", "NUMBER of mine is no function"),
        ("mine", "test_sharp.py", "expected MODULE:FUNCTION"),
        ("mine:softmax", "test_none.py", "pytest ends with 4 without a defect"),
    ],
)
def test_what_cannot_be_audited_is_one_sentence(suite, kernel, test, said):
    done = completed("audit", "--kernel", kernel, "--", "python", "-m", "pytest", test, cwd=suite)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_another_program_than_pytest_and_an_unknown_defect_are_refused(suite):
    for words, said in {("--only", "zeroes"): "did you mean zeros?", (): "'make' is not pytest"}.items():
        done = completed("audit", "--kernel", "mine:softmax", *words, "--", "make", "test", cwd=suite)
        assert done.returncode == 2
        assert said in done.stderr


def test_how_far_off_is_a_part_of_the_largest_number():
    right = np.array([1.0, -4.0, np.nan])
    assert measure_off(right * 1.5, right) == 0.5
    assert measure_off(np.zeros(3), right) == np.inf
