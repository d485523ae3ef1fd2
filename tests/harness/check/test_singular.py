"""Where the reference itself has no answer, in values or in gradients, who raises is not wrong: a solver says so."""

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.variants.variant import GIVEN  # noqa: E402

SHAPES = [(5, 5), (5, 2)]


class Solved(torch.autograd.Function):
    """Values that say nothing of a singular matrix, and gradients by a solver that raises there."""

    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.solve_ex(a, b)[0]
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        of_b = torch.linalg.solve(a.mT, g)
        return -of_b @ x.mT, of_b


class Raising(torch.autograd.Function):
    """exp, whose gradient is lost where all numbers are small."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        if x.abs().max() < 0.1:
            raise RuntimeError("too small")
        return g * y


def eliminated(a, b):
    """Gauss and Jordan, of whom a singular matrix gets infinities and NaN."""
    n = a.shape[-1]
    rows = [torch.cat([a[i], b[i]]) for i in range(n)]
    for i in range(n):
        rows[i] = rows[i] / rows[i][i]
        rows = [r if j == i else r - r[i] * rows[i] for j, r in enumerate(rows)]
    return torch.stack(rows)[:, n:]


def made(seed):
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(s, generator=g) for s in SHAPES]


@pytest.mark.parametrize("inputs", [SHAPES, made], ids=["shapes", "factory"])
@pytest.mark.parametrize("like", [eliminated, lambda a, b: torch.linalg.solve_ex(a, b)[0]], ids=["eliminated", "ex"])
def test_a_gradient_that_raises_of_a_singular_matrix_is_no_failure(like, inputs):
    report = opproof.check(Solved.apply, like=like, inputs=inputs, raises=False, only="pairs that cancel")
    assert not report.failures


def test_values_that_raise_of_a_singular_matrix_are_no_failure():
    report = opproof.check(torch.linalg.solve, like=eliminated, inputs=SHAPES, raises=False, only="pairs that cancel")
    assert not report.failures


def test_the_solver_is_right_elsewhere_and_its_own_failure_is_one():
    asked = {"like": eliminated, "inputs": SHAPES, "raises": False, "only": GIVEN}
    assert opproof.check(Solved.apply, **asked).ok
    wrong = opproof.check(lambda a, b: Solved.apply(a, b) * 1.01, **asked)
    assert wrong.failures.keys() == {"WRONG_VALUE", "WRONG_GRADIENT"}


def test_who_raises_where_the_reference_has_an_answer_is_wrong():
    report = opproof.check(Raising.apply, like=torch.exp, inputs=[(4, 6)], raises=False, only="small values")
    assert [(r.mode, r.message) for r in report.failures["ERROR"]] == [("gradient", "RuntimeError: too small")]
