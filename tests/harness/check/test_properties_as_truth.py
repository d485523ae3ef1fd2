"""An answer that is not unique is judged by what must hold of it: any right one passes, and wrong ones fail."""

import numpy as np
import pytest
import torch
from _runs import completed

import opproof
from opproof.cases._fills.matrices import MATRIX_PROFILES, generate_trials, make_matrices
from opproof.core.errors import UsageError
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.isolated import load_pair
from opproof.reference_ops._problems import PROBLEMS

MIXED = {"qr": "mixed 7x24x9", "svd": "mixed 7x24x9", "eigh": "mixed 7x16x16", "lu": "mixed 7x16x16"}


def turned(a):
    """QR whose columns have other signs."""
    q, r = torch.linalg.qr(a)
    signs = torch.where(torch.arange(q.shape[-1]) % 2 == 0, -1.0, 1.0).to(a.dtype)
    return q * signs, r * signs[:, None]


def householder(a):
    """QR by reflections, complete, one matrix after the other."""
    r, q = a.clone(), torch.eye(a.shape[-2], dtype=a.dtype).expand(*a.shape[:-2], -1, -1).clone()
    for j in range(min(a.shape[-2:])):
        x = r[..., j:, j]
        x = x / x.abs().amax(-1, keepdim=True).clamp_min(torch.finfo(a.dtype).tiny)
        v = x.clone()
        v[..., 0] += torch.where(x[..., 0] < 0, -1.0, 1.0) * x.norm(dim=-1)
        v = (v / v.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(a.dtype).tiny)).unsqueeze(-1)
        r[..., j:, :] -= 2 * v @ (v.mT @ r[..., j:, :])
        q[..., :, j:] -= 2 * (q[..., :, j:] @ v) @ v.mT
    return q, r


def gram_schmidt(a):
    """QR by classical Gram-Schmidt, whose Q is orthogonal where columns nearly are."""
    count = min(a.shape[-2:])
    q = torch.zeros(*a.shape[:-1], count, dtype=a.dtype)
    for j in range(count):
        v = a[..., :, j] - (q @ (q.mT @ a[..., :, j : j + 1]))[..., 0]
        q[..., :, j] = v / v.norm(dim=-1, keepdim=True).clamp_min(1e-30)
    return q, (q.mT @ a).triu()


def flipped(a):
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    u[..., :1] = -u[..., :1]
    return u, s, vh


def unsorted(a):
    w, v = torch.linalg.eigh(a)
    return w.flip(-1), v.flip(-1)


def without_pivots(a):
    upper, lower = a.clone(), torch.eye(a.shape[-1], dtype=a.dtype).expand(a.shape).clone()
    for j in range(a.shape[-1]):
        lower[..., j + 1 :, j] = upper[..., j + 1 :, j] / upper[..., j, j].unsqueeze(-1)
        upper[..., j + 1 :, :] -= lower[..., j + 1 :, j : j + 1] * upper[..., j : j + 1, :]
    return torch.eye(a.shape[-1], dtype=a.dtype).expand(a.shape).clone(), lower, upper.triu()


def repeated(x, k):
    values, indices = torch.topk(x, k)
    return values, torch.where(values == values[..., :1], indices[..., :1], indices)


def unstable(x, dim=-1, descending=False, stable=False):
    values, indices = torch.sort(x.flip(-1), dim=dim, descending=descending, stable=True)
    return values, x.shape[-1] - 1 - indices


def last_only(x, k):
    values, indices = torch.topk(x, k)
    return values.flip(-1), indices.flip(-1)


def checked(candidate, **options):
    return opproof.check(candidate, **{"raises": False, **options})


def failure_of(report):
    """The verdict of the first failure, and what is not zero."""
    failed = [r for rs in report.failures.values() for r in rs]
    return (failed[0].verdict, failed[0].worst.tensor) if failed else None


@pytest.mark.parametrize(
    ("like", "candidate", "dtype"),
    [
        ("qr", turned, "f32"),
        ("qr", householder, "f64"),
        ("svd", torch.linalg.svd, "f32"),
        ("eigh", torch.linalg.eigh, "f64"),
        ("lu", torch.linalg.lu, "f32"),
        ("topk", torch.topk, "f32"),
        ("sort", torch.sort, "f64"),
    ],
)
def test_right_answers_pass_whatever_their_form(like, candidate, dtype):
    report = opproof.check(candidate, like=like, dtype=dtype)
    assert report.complete
    assert len(report.results) >= 30
    assert report.not_judged == ("gradients: properties say nothing of them",)


@pytest.mark.parametrize(
    ("like", "candidate", "fault", "where"),
    [
        ("qr", gram_schmidt, "QᵀQ - I", "condition 1e4 24x9"),
        ("svd", flipped, "A - U S Vᵀ", "well-conditioned 24x9"),
        ("eigh", unsorted, "eigenvalues out of order", "well-conditioned 16x16"),
        ("topk", repeated, "indices that come twice", "ties 4x33"),
        ("topk", last_only, "values out of order", "normal 4x33"),
        ("topk", lambda x, k: (torch.topk(x, k)[0], torch.topk(x, k)[1].flip(-1)), "indices of other values", None),
        ("sort", lambda x: torch.sort(x.round()), "values that are none of those asked for", None),
    ],
)
def test_what_does_not_hold_fails_by_its_name(like, candidate, fault, where):
    report = checked(candidate, like=like, neighbours=where is not None)
    assert failure_of(report) == (Verdict.WRONG_VALUE, fault)
    first = next(iter(report.failures.values()))[0]
    assert where in (None, report.variants[first.case])
    assert fault in repr(report)


def test_gram_schmidt_loses_orthogonality_in_a_mixed_batch_too():
    report = checked(gram_schmidt, like="qr", dtype="f64", only=MIXED["qr"])
    (result,) = report.results
    assert (result.verdict, result.worst.tensor) == (Verdict.WRONG_VALUE, "QᵀQ - I")
    assert MATRIX_PROFILES[result.worst.index[0]] in ("rank-deficient", "zeros")
    assert opproof.check(gram_schmidt, like="qr", only="well-conditioned 24x9").ok


def test_elimination_without_pivots_fails_where_they_are_small():
    report = checked(without_pivots, like="lu", inputs=[(16, 16)], only="small pivots 16x16")
    assert failure_of(report) == (Verdict.WRONG_VALUE, "A - P L U")


def test_a_sort_that_is_asked_to_be_stable_keeps_equal_elements_in_order():
    asked = {"inputs": {"x": (4, 33), "stable": True}, "like": "sort"}
    assert opproof.check(lambda x, stable: torch.sort(x, stable=stable), **asked).ok
    report = checked(unstable, **asked)
    assert failure_of(report) == (Verdict.WRONG_VALUE, "equal elements that changed places")
    assert opproof.check(unstable, like="sort").ok


def test_inputs_that_are_given_come_first_and_alone_where_nothing_else_is_wanted():
    a = torch.randn(3, 6, 4)
    report = opproof.check(turned, like="qr", inputs=[a], neighbours=False)
    assert report.tried == ("as given",)
    tried = opproof.check(turned, like="qr", inputs=[a], seconds=0.2, raises=False).tried
    assert tried[:4] == ("as given", "draw 1", "draw 2", "well-conditioned 3x6x4")[: len(tried)]
    report = checked(repeated, like="topk", inputs=[torch.ones(9), 4], neighbours=False)
    assert failure_of(report) == (Verdict.WRONG_VALUE, "indices that come twice")


def test_changed_inputs_other_bits_and_errors_fail_as_ever():
    def writes(a):
        q, r = torch.linalg.qr(a)
        a.zero_()
        return q, r

    calls = []

    def varies(a):
        calls.append(a)
        q, r = torch.linalg.qr(a)
        return (q, r) if len(calls) % 4 < 2 else (-q, -r)

    for candidate, verdict in (
        (writes, Verdict.INPUT_CHANGED),
        (varies, Verdict.NOT_REPEATABLE),
        (lambda a: torch.linalg.qr(a)[0], Verdict.WRONG_SHAPE),
        (lambda a: [y.double() for y in torch.linalg.qr(a)], Verdict.WRONG_DTYPE),
        (lambda a: 1 / 0, Verdict.ERROR),
    ):
        report = checked(candidate, like="qr", neighbours=False)
        assert [r.verdict for r in report.results] == [verdict], verdict


def of_jax(like):
    jax = pytest.importorskip("jax")
    return {"qr": jax.numpy.linalg.qr, "eigh": jax.numpy.linalg.eigh, "topk": jax.lax.top_k}[like]


def of_mlx(like):
    mx = pytest.importorskip("mlx.core")
    return {
        "qr": lambda a: mx.linalg.qr(a, stream=mx.cpu),
        "svd": lambda a: mx.linalg.svd(a, stream=mx.cpu),
        "eigh": lambda a: mx.linalg.eigh(a, stream=mx.cpu),
        "lu": lambda a: mx.linalg.lu(a, stream=mx.cpu),
    }[like]


def of_scipy(like):
    import scipy.linalg

    return {
        "qr": np.linalg.qr,
        "svd": np.linalg.svd,
        "eigh": scipy.linalg.eigh,
        "lu": lambda a: scipy.linalg.lu(a, p_indices=True),
    }[like]


@pytest.mark.parametrize(
    ("library", "like", "dtype"),
    [
        *((of_scipy, like, dtype) for like in MIXED for dtype in ("f32", "f64")),
        (of_jax, "qr", "f32"),
        (of_jax, "eigh", "f64"),
        *((of_mlx, like, "f32") for like in MIXED),
    ],
)
def test_libraries_are_right(library, like, dtype):
    report = opproof.check(library(like), like=like, dtype=dtype, only=MIXED[like])
    assert report.ok
    assert len(report.results) == 1


def test_faults_in_functions_of_libraries_fail():
    mx, jax = pytest.importorskip("mlx.core"), pytest.importorskip("jax")

    def of_mlx_flipped(a):
        u, s, vh = mx.linalg.svd(a, stream=mx.cpu)
        return u, s, mx.concatenate([-vh[..., :1, :], vh[..., 1:, :]], axis=-2)

    def of_jax_unsorted(a):
        w, v = jax.numpy.linalg.eigh(a)
        return w[..., ::-1], v[..., ::-1]

    assert failure_of(checked(of_mlx_flipped, like="svd", only=MIXED["svd"]))[1] == "A - U S Vᵀ"
    assert failure_of(checked(of_jax_unsorted, like="eigh", only=MIXED["eigh"]))[1] == "eigenvalues out of order"
    assert failure_of(checked(lambda a: np.linalg.qr(a)[::-1], like="qr", inputs=[(5, 5)], neighbours=False))


# What a user says of an answer.


def root(a, factor=1.0):
    w, v = torch.linalg.eigh(a)
    return factor * ((v * w.sqrt().unsqueeze(-2)) @ v.mT)


def of_root(inputs, outputs):
    (a,), (s,) = inputs, outputs
    return {"A - S S": (a - s @ s).norm() / a.norm()}


def definite(seed):
    a = torch.randn(6, 6, generator=torch.Generator().manual_seed(seed))
    return [(a @ a.mT + torch.eye(6)).tril() + (a @ a.mT).tril(-1).mT]


def test_a_users_properties_are_measured_by_an_honest_function_by_float64_or_by_a_tolerance():
    for how in ({"like": root}, {}, {"tolerance": 1e-5}):
        given = {"properties": of_root, "inputs": definite, **how}
        assert opproof.check(lambda a: root(a.clone()), **given).ok, how
        assert failure_of(checked(lambda a: root(a, 1.001), **given)) == (Verdict.WRONG_VALUE, "A - S S"), how
    alone = {"properties": of_root, "inputs": definite, "neighbours": False}
    text = "it is no smaller in float64: no rounding leaves it"
    assert text in repr(checked(lambda a: root(a, 1.001), **alone))
    halved = checked(lambda a: root(a.bfloat16().to(a.dtype)) if a.dtype == torch.float32 else root(a), **alone)
    assert failure_of(halved) == (Verdict.WRONG_VALUE, "A - S S")


def test_properties_that_zeros_have_too_prove_nothing():
    report = checked(
        lambda a: a + a.mT,
        properties=lambda inputs, outputs: {"y - yᵀ": (outputs[0] - outputs[0].mT).norm()},
        inputs=[(5, 5)],
        tolerance=1e-6,
    )
    assert not report.ok
    assert {r.verdict for r in report.results} == {Verdict.VACUOUS}


def test_a_residual_that_float64_does_not_explain_is_inconclusive():
    def candidate(a):
        return root(a, 1 + (1e-9 if a.dtype == torch.float64 else 0))

    report = checked(candidate, properties=of_root, inputs=definite, neighbours=False)
    assert not report.ok
    assert [r.verdict for r in report.results] == [Verdict.INCONCLUSIVE]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"like": "qrr"}, "like='qrr' names no problem: expected one of eigh, lu, qr, sort, svd, topk"),
        ({"like": "qr", "properties": of_root}, "like='qr' has properties of its own"),
        ({"like": "qr", "compute": "storage"}, "compute belongs to a reference of values"),
        ({"like": "qr", "inplace": ("a",)}, "inplace belongs to a reference of values"),
        ({"like": "qr", "inputs": [(5,)]}, "a is no matrix, nor a batch of them"),
        ({"like": "eigh", "inputs": [torch.arange(9.0).reshape(3, 3)]}, "a is not symmetric"),
        ({"like": "topk", "inputs": [(4, 9)]}, "missing a required argument: 'k'"),
        ({"like": "qr", "only": "no such"}, "only='no such' is no variant of these"),
        ({"properties": of_root}, "properties= needs inputs"),
        ({"properties": 3, "inputs": [(2, 2)]}, "properties is 3: expected a function"),
        (
            {"properties": lambda *_: [1], "inputs": [(2, 2)], "tolerance": 1},
            "properties returned a list: expected a",
        ),
        (
            {"properties": lambda *_: 1 / 0, "inputs": [(2, 2)], "tolerance": 1},
            "properties raises ZeroDivisionError: div",
        ),
        ({"properties": lambda *_: {}, "inputs": [(2, 2)], "tolerance": 1}, "expected a dict of names"),
        ({"properties": lambda *_: {"a": "b"}, "inputs": [(2, 2)], "tolerance": 1}, "what is no number"),
        ({"properties": of_root, "inputs": [(2, 2)], "tolerance": -1}, "tolerance=-1: expected a number"),
        ({"like": "qr", "tolerance": 1.0}, "tolerance= belongs to properties="),
        ({"properties": of_root, "inputs": [(2, 2)], "dtype": "f64"}, "give like= or tolerance="),
        ({}, "check needs one reference"),
    ],
)
def test_a_wrong_call_is_one_sentence(options, text):
    with pytest.raises(UsageError) as error:
        opproof.check(lambda a: a, **options)
    assert text in str(error.value)
    assert "\n" not in str(error.value)


def test_files_name_a_problem_or_have_properties(tmp_path):
    (tmp_path / "candidate.py").write_text("import torch\n\n\ndef candidate(a):\n    return torch.linalg.qr(-a)\n")
    (tmp_path / "by_word.py").write_text('like = "qr"\n')
    of_one = "def properties(inputs, outputs):\n    (a,), (q, r) = inputs, outputs\n"
    (tmp_path / "by_function.py").write_text(
        f"{of_one}    return {{'A - Q R': (a - q @ r).norm()}}\n\n\ninputs = [(5, 4)]\ntolerance = 1e-5\n"
    )
    (tmp_path / "wrong.py").write_text('like = "qrr"\n')
    for name, status, text in (("by_function", 1, "A - Q R[]: got"), ("wrong", 2, "names no problem")):
        done = completed("check", f"{name}.py", "candidate.py", "--seconds", "1", cwd=tmp_path)
        assert (done.returncode, text in done.stdout + done.stderr) == (status, True), done.stdout + done.stderr
    pair = load_pair(tmp_path / "by_word.py", tmp_path / "candidate.py", 0)
    assert (pair.reference, pair.inputs, pair.properties) == ("qr", None, None)


# The facts.


@pytest.mark.parametrize("symmetric", [False, True])
def test_matrices_have_the_conditions_that_they_are_called_by(symmetric):
    def values_of(profile):
        a = make_matrices(profile, (12, 12), np.random.default_rng(1), symmetric=symmetric)
        assert not symmetric or np.array_equal(a, a.T)
        return np.linalg.svd(a, compute_uv=False)

    conditions = {p: v[0] / v[-1] for p in MATRIX_PROFILES[:3] if (v := values_of(p))[-1]}
    assert conditions["well-conditioned"] == pytest.approx(4)
    assert conditions["condition 1e4"] == pytest.approx(2**13)
    assert conditions["condition 1e8"] == pytest.approx(2**27)
    assert np.ptp(values_of("clustered")[:6]) < 2e-6
    assert np.count_nonzero(values_of("rank-deficient") > 1e-9) == 6
    assert not values_of("zeros").any()


def test_a_problem_in_another_order_is_the_same_problem():
    rng = np.random.default_rng(0)
    for name, like in PROBLEMS.items():
        if like.renumber is not None:
            a = next(generate_trials(like.kind, (7, 7), 0))[1]
            b = like.renumber(a, rng)
            assert np.allclose(*(np.linalg.svd(m, compute_uv=False) for m in (a, b))), name
            assert like.kind != "symmetric" or np.array_equal(b, b.T)
