"""Decompositions are stable for the whole matrix: of zeros with one slice honest ones pass, and wrong ones fail."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.cases import Case  # noqa: E402
from opproof.harness.judge.bound import compare  # noqa: E402
from opproof.harness.reference.data import inputs_of  # noqa: E402
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth  # noqa: E402
from opproof.reference_ops import load  # noqa: E402

pytestmark = pytest.mark.usefixtures("usual_values")

DRAWS = np.random.default_rng(3)
DTYPES = {"f32": torch.float32, "f64": torch.float64}


def eigenvalues(a):
    return torch.linalg.eigvalsh(a + a.mT)


def by_vectors(a):
    return torch.linalg.eigh(a + a.mT)[0]


def triangle(a):
    return torch.linalg.qr(a)[1].abs()


VALUES = [torch.linalg.svdvals, eigenvalues, by_vectors, lambda a: torch.linalg.svd(a)[1]]


def zeros_but(n, **slices):
    """A matrix of zeros but for the rows or the columns named."""
    a = np.zeros((n, n))
    for axis, index in slices.items():
        a[(index, slice(None)) if axis == "row" else (slice(None), index)] = DRAWS.standard_normal(n)
    return a


MATRICES = {
    "row": zeros_but(6, row=3),
    "column": zeros_but(6, column=5),
    "both": zeros_but(17, row=0, column=16),
    "ones": np.ones((9, 9)),
    "rank 1": np.outer(DRAWS.standard_normal(9), DRAWS.standard_normal(9)),
    "batch": np.stack([zeros_but(5, row=4), np.zeros((5, 5)), DRAWS.standard_normal((5, 5))]),
}


def expected_of(f, a, dtype):
    asked = TorchQuestion(lambda t: (f(t),), (a,), (False,), (dtype,), (dtype,))
    return compute_truth(asked, runs=16).outputs[0]


def given(label, dtype):
    stored = torch.from_numpy(MATRICES[label]).to(DTYPES[dtype])
    return stored, stored.double().numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("label", MATRICES)
@pytest.mark.parametrize("f", VALUES, ids=["svdvals", "eigvalsh", "eigh", "svd"])
def test_values_of_a_matrix_are_off_by_its_size(f, label, dtype):
    stored, a = given(label, dtype)
    want, got = expected_of(f, a, dtype), f(stored).numpy()
    size = np.abs(want.values).max()
    assert compare(got, want, dtype).right
    assert not compare((got + 1e-3 * size).astype(got.dtype), want, dtype).passed[-1].any()
    missing = np.where(np.abs(want.values) == size, 0, got)
    assert not compare(missing, want, dtype).right
    widest = compare(got, want, dtype).bound.max()
    assert widest <= (200 if label == "batch" else 120) * size * 2.0 ** -(24 if dtype == "f32" else 53)


@pytest.mark.parametrize(("f", "label"), [(triangle, "row"), (triangle, "rank 1"), (torch.linalg.pinv, "row")])
def test_zeros_of_other_factors_are_off_by_their_size(f, label):
    stored, a = given(label, "f32")
    want, got = expected_of(f, a, "f32"), f(stored).numpy()
    assert compare(got, want, "f32").right
    assert not compare(got * np.float32(1.001), want, "f32").right


ELIMINATIONS = {
    "inv": (torch.linalg.inv, np.linalg.inv),
    "solve": (lambda a: torch.linalg.solve(a, a.mT.contiguous()), lambda a: np.linalg.solve(a, np.swapaxes(a, -1, -2))),
    "det": (torch.linalg.det, np.linalg.det),
}


@pytest.mark.parametrize(("ours", "theirs"), ELIMINATIONS.values(), ids=ELIMINATIONS)
def test_elimination_is_off_by_what_rows_with_a_large_element_leave_in_others(ours, theirs):
    """By roundings of rows alone NumPy's inverse is 200 units off."""
    case = Case.parse("inverse[x=40x13x13;f64;fill=outliers]")
    a = inputs_of(case, load(case.op))["x"]
    want = expected_of(ours, a, "f64")
    assert compare(theirs(a), want, "f64").right
    assert not compare(theirs(a) * (1 + 2.0**-30), want, "f64").right


def test_rows_of_zeros_are_turned_into_others_by_qr():
    a = DRAWS.standard_normal((6, 6)).astype(np.float32).astype(np.float64)
    a[3] = 0
    want, got = expected_of(triangle, a, "f32"), triangle(torch.from_numpy(a).float()).numpy()
    assert compare(got, want, "f32").right


@pytest.mark.parametrize("f", VALUES[:3], ids=["svdvals", "eigvalsh", "eigh"])
def test_an_honest_one_passes_check_and_a_wrong_one_does_not(f):
    def off(a):
        y = f(a)
        return y + 1e-3 * y.abs().amax(-1, keepdim=True)

    def missing(a):
        y = f(a)
        return y.where(y.abs() < y.abs().amax(-1, keepdim=True), 0.0)

    wishes = {
        "like": f,
        "inputs": [given("row", "f32")[0]],
        "only": "as given",
        "neighbours": False,
        "gradients": False,
    }
    assert opproof.check(f, raises=False, **wishes).ok
    for wrong in (off, missing):
        report = opproof.check(wrong, raises=False, **wishes)
        assert not report.ok
        assert "WRONG_VALUE" in str(report)
