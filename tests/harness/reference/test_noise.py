"""Noisy arithmetic: its exact part is the plain result, no branch flips, and its size is that of real roundings."""

import numpy as np
import pytest

from opproof.cases import Case, cases_of
from opproof.cases._registry import all_names
from opproof.core.errors import OpError
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.reference.data import inputs_of
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.montecarlo.array import NoisyArray, Source
from opproof.harness.reference.montecarlo.sampling import Pooled
from opproof.harness.reference.question import Expected, Question, evaluate_vjp, make_question
from opproof.reference_ops import load

U = 2.0**-24


def source(runs=16, amplitude=2.0**-30):
    return Source(Pooled(5), runs, amplitude, summing=amplitude)


def noisy(values, runs=16):
    return source(runs).wrap(np.asarray(values, dtype=np.float64))


def wrapped(inputs):
    """Inputs as the reference is given them, with noise; one array given twice stays one."""
    from_id = {id(v): source().wrap(v) for v in inputs if v is not None and v.dtype.kind == "f"}
    return [from_id.get(id(v), v) for v in inputs]


def assert_same(plain, found, where):
    """The exact part is the plain result bit for bit, and each run is finite where that is."""
    exact = found.exact if isinstance(found, NoisyArray) else np.asarray(found)
    np.testing.assert_array_equal(exact, plain, err_msg=where)
    if isinstance(found, NoisyArray):
        assert found.runs.shape == (16, *plain.shape), where
        assert np.isfinite(found.runs[:, np.isfinite(plain)]).all(), where


def is_run(name):
    """Whether the judge ever runs the reference under noise: not where all that it does is exact."""
    op = load(name)
    return not op.is_exact("forward") or (op.vjp is not None and not op.is_exact("gradient"))


@pytest.mark.parametrize("name", [n for n in all_names() if is_run(n)])
def test_every_reference_runs_under_noise(name):
    op = load(name)
    for case in cases_of(name, "smoke"):
        if case.dtype != "f32":
            continue
        p = make_question(case, op, Mode.GRADIENT if op.vjp is not None else Mode.FORWARD).case_data
        with np.errstate(all="ignore"):
            found = tuple_of(op.forward(*wrapped(p.inputs), **p.params))
        for y, n in zip(p.outputs, found, strict=True):
            assert_same(y, n, str(case))
        if op.vjp is None:
            continue
        gradients = evaluate_vjp(op, p.inputs, p.params, p.cotangents, p.outputs)
        found = evaluate_vjp(op, wrapped(p.inputs), p.params, wrapped(p.cotangents), wrapped(p.outputs))
        for d, n in zip(gradients, found, strict=True):
            assert (d is None) == (n is None)
            if d is not None:
                assert_same(np.asarray(d), n, str(case))


def test_every_rounding_operation_adds_noise():
    x = NoisyArray(np.full((50,), 3.0), np.full((16, 50), 3.0), source())  # without noise so far
    for result in (x * x, x + x, np.exp(x), x / 7, x * 3, np.sum(x), np.cumsum(x)[1:], np.prod(x), x @ x, np.mean(x)):
        assert np.std(result.runs, axis=0).min() > 0
    for result in (-x, abs(x), x * 2, x / 4, 0.5 * x, np.reshape(x, (5, 10)), x[3:], np.maximum(x, 0), np.max(x)):
        assert np.ptp(result.runs) == 0


def test_comparisons_are_decided_on_the_exact_values():
    x = noisy([1.0, 1.0, 2.0])
    assert (x == 1).tolist() == [True, True, False]
    assert (x > 1).tolist() == [False, False, True]
    assert (x >= np.array([1, 2, 2])).tolist() == [True, False, True]
    assert np.argmax(x[:2]) == 0
    assert np.argsort(-x, kind="stable").tolist() == [2, 0, 1]
    assert bool(np.all(x > 0))


def test_branches_do_not_flip():
    """At ties and steps every run takes the branch of the exact values."""
    x = noisy(np.repeat([[1.0, 2.0, 2.0, -1.0]], 64, axis=0))
    for step in (np.floor(x), np.sign(x), np.trunc(x), np.rint(x), np.ceil(x), np.floor_divide(x, 1.0)):
        assert np.ptp(step.runs, axis=0).max() == 0
    np.testing.assert_array_equal(np.max(x, axis=1).runs, x.runs[:, :, 1])
    np.testing.assert_array_equal(np.min(x[:, 1:3], axis=1).runs, x.runs[:, :, 1])
    np.testing.assert_array_equal(np.sort(x, axis=1).runs, x.runs[..., [3, 0, 1, 2]])
    tied = noisy(np.repeat([[1.0, 2.0, 2.0, -1.0]], 64, axis=0))
    np.testing.assert_array_equal(np.maximum(x, tied).runs, x.runs)
    np.testing.assert_array_equal(np.minimum(tied, x).runs, tied.runs)
    np.testing.assert_array_equal(np.where(x >= 2, x, 0).runs != 0, np.repeat((x.exact >= 2)[None], 16, axis=0))
    np.testing.assert_array_equal(np.clip(x, -1, 2).runs, x.runs)
    for remainder in (np.fmod(x, 1.0), np.remainder(x, -1.0), np.fmod(2 * x, tied)):
        assert np.abs(remainder.runs).max() < 1e-7  # multiples stay multiples, or a hair beside


@pytest.mark.parametrize(
    "function",
    [
        np.linalg.qr,
        np.unwrap,
        np.std,
        np.median,
        np.nansum,
        np.gradient,
        np.subtract.accumulate,
        np.add.outer,
        np.logaddexp2.reduce,
        np.spacing,
        np.modf,
        np.frexp,
        lambda x: np.nextafter(x, 0),
        lambda x: np.heaviside(x, 0.5),
        lambda x: np.divmod(x, 2),
        lambda x: x.astype(np.float32),
        np.asarray,
        float,
    ],
)
def test_unknown_functions_are_refused(function):
    with pytest.raises((OpError, TypeError)):
        function(noisy([1.0, 2.0, 3.0]))


def test_whole_numbers_are_those_of_the_exact_values():
    assert noisy([1.0, 2.5, -3.5]).astype(np.int64).tolist() == [1, 2, -3]


def test_noise_is_not_put_into_a_plain_array():
    plain = np.zeros(3)
    with pytest.raises(TypeError, match="make the array with np.zeros"):
        plain[...] = noisy([1.0, 2.0, 3.0])


def scale(result):
    """RMS deviation of the runs, in roundings."""
    return np.sqrt(np.mean(np.square(result.runs - result.exact), axis=0)) / result.source.amplitude


@pytest.mark.parametrize("shift", [0.0, 1.0])
@pytest.mark.parametrize("n", [64, 1024, 16384])
def test_sums_grow_as_sequential_float32_sums_do(n, shift):
    terms = (np.random.default_rng(n).uniform(-0.5, 0.5, size=(64, n)) + shift).astype(np.float32)
    honest = np.cumsum(terms, axis=1, dtype=np.float32)[:, -1]  # one after the other
    exact = np.sum(terms, axis=1, dtype=np.float64)
    measured = np.sqrt(np.mean(np.square(honest - exact))) / U
    predicted = np.sqrt(np.mean(np.square(scale(np.sum(noisy(terms), axis=1)))))
    assert 1 / 4 < measured / predicted < 2.5
    by_matmul = np.sqrt(np.mean(np.square(scale(noisy(terms) @ np.ones(n)))))
    assert 0.5 < by_matmul / predicted < 2


def test_sums_grow_with_the_square_root():
    """Relative to the sum of n equal terms: 16 times the error for 256 times the terms."""
    few, many = (float(scale(np.sum(noisy(np.ones(n), runs=2000)))) / n for n in (64, 16384))
    assert 14 < many / few < 18


@pytest.mark.parametrize("shift", [-9.0, 0.0, 90.0])
@pytest.mark.parametrize("n", [8, 256, 4096])
def test_scans_by_logaddexp_grow_as_those_of_float32_do(n, shift):
    """Each log so far is rounded; an absolute error, so that it is the larger the farther the logs are from zero."""
    terms = (np.random.default_rng(n).normal(size=(64, n)) + shift).astype(np.float32)
    exact = np.logaddexp.accumulate(terms.astype(np.float64), axis=1)
    predicted = np.sqrt(np.mean(np.square(scale(np.logaddexp.accumulate(noisy(terms), axis=1))[:, -1])))
    one_by_one = np.logaddexp.accumulate(terms, axis=1)
    at_once = np.log(np.cumsum(np.exp(terms - np.float32(shift)), axis=1, dtype=np.float32)) + np.float32(shift)
    measured = [np.sqrt(np.mean(np.square(honest - exact)[:, -1])) / U for honest in (one_by_one, at_once)]
    assert 1 / 4 < max(measured) / predicted < 2.5


def test_a_scan_by_logaddexp_has_no_noise_where_it_is_infinite():
    x = noisy([[-np.inf, -np.inf, 1.0, np.inf, 2.0]])
    y = np.logaddexp.accumulate(x, axis=1)
    assert y.exact.tolist()[0] == [-np.inf, -np.inf, 1.0, np.inf, np.inf]
    infinite = np.isinf(y.exact)
    assert np.all(y.runs[:, infinite] == y.exact[infinite])
    assert np.ptp(y.runs[:, 0, 2]) > 0


def test_the_log_of_two_exponentials_errs_as_that_of_a_sum():
    """By a roundoff of 1 where log1p would keep more, as far as it is from the larger; not at all at infinities."""
    a, b = np.array([-1e-3, 5.0]), np.array([-6.9, 5.0])
    near, equal = scale(np.logaddexp(noisy(a, runs=400), b))
    assert 0.8 < near < 1.3
    assert 0.8 < equal / np.sqrt(1 + np.log(2) ** 2 + 5.69**2 + 2.5**2) < 1.3
    a, b = np.array([-np.inf, np.inf]), np.array([-np.inf, 3.0])
    infinite = np.logaddexp(noisy(a), b)
    assert np.array_equal(infinite.exact, a)
    assert np.all(infinite.runs == a)


def test_a_reduction_by_logaddexp_errs_as_the_end_of_its_scan():
    x = np.random.default_rng(0).normal(size=(3, 500, 2))
    scan, total = (f(noisy(x, runs=200), axis=1) for f in (np.logaddexp.accumulate, np.logaddexp.reduce))
    assert np.array_equal(total.exact, scan.exact[:, -1])
    assert np.allclose(scale(total), scale(scan)[:, -1], rtol=0.3)
    assert np.logaddexp.reduce(noisy(x), axis=-2, keepdims=True).shape == (3, 1, 2)
    assert np.array_equal(np.logaddexp.reduce(noisy(np.zeros((2, 0))), axis=1).exact, [-np.inf, -np.inf])


def expected(name, *arrays, dtype="f32", declared=None, **params) -> Expected:
    tensors = ";".join(f"{k}={'x'.join(map(str, v.shape))}" for k, v in zip("ab", arrays, strict=False))
    given = "".join(f";{k}={v}" for k, v in params.items())
    shape = tensors.replace("a=", "x=") if len(arrays) == 1 else tensors
    case = Case.parse(f"{name}[{shape}{given};{dtype}]")
    return evaluate_expected(posed(case, *arrays), declared)[0]


def posed(case, *inputs, cotangents=()):
    """A question about these arrays."""
    mode = Mode.GRADIENT if cotangents else Mode.FORWARD
    needs = (True,) * len(inputs)
    return Question(case, load(case.op), mode, tuple(case.shapes)[: len(inputs)], inputs, cotangents, needs)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def test_scale_of_a_cancellation():
    """x - y with y close to x: the inputs' roundings remain, sqrt(x^2 + y^2) of them."""
    x = np.full((64, 64), 1.0)
    found = expected("sub", x, x * (1 - 2.0**-10))
    assert 1.35 < rms(found.scale) < 1.48
    assert np.allclose(found.values, 2.0**-10)


def test_scale_of_a_product_and_a_quotient():
    """x y: two inputs and the result, each rounded once."""
    x = np.full((64, 64), 3.0)
    y = x.copy()  # x twice would be one tensor used twice, its rounding doubled
    assert 1.65 < rms(expected("mul", x, y).scale / 9) < 1.8
    assert 1.65 < rms(expected("div", x, y).scale) < 1.8
    assert 2.15 < rms(expected("mul", x, x).scale / 9) < 2.32


def test_scale_of_exp_grows_with_its_argument():
    found = expected("exp", np.full((64, 64), 50.0))
    assert 45 < rms(found.scale / found.values) < 55


def test_sixteen_bits_are_computed_in_float32():
    x = np.linspace(-3, 3, 4096).reshape(64, 64)
    honest = expected("tanh", x, dtype="f16")
    assert rms(honest.scale) < 2e-3  # the one rounding of the result is in |expected|, not here
    stored = expected("tanh", x, dtype="f16", declared="storage")
    assert 0.3 < rms(stored.scale) < 3
    assert rms(expected("tanh", x, dtype="f32", declared="tf32").scale) > 2**12


def test_gradient_from_a_saved_output():
    """tanh' = 1 - y^2 from a y rounded to f16: at y near 1 that rounding is all there is."""
    x, g = np.full((64, 64), 3.0), np.ones((64, 64))
    (found,) = evaluate_expected(posed(Case.parse("tanh[x=64x64;f16]"), x, cotangents=(g,)))
    # 2 y dy in units of u(f16), dy the RMS of one store
    assert 1.8 < rms(found.scale) * 3**0.5 < 2.2


def test_same_noise_every_time():
    x = inputs_of(Case.parse("softmax[x=9x33;dim=-1;f32]"), load("softmax"))["x"]
    first, second = (expected("softmax", x, dim=-1) for _ in range(2))
    np.testing.assert_array_equal(first.scale, second.scale)
    assert not np.array_equal(first.scale, expected("softmax", x, dim=-1, dtype="f64").scale)


def test_exact_operators_have_no_scale():
    x = np.linspace(-3, 3, 4096).reshape(64, 64)
    found = expected("relu", x)
    assert found.exact
    assert not found.scale.any()


def test_a_noisy_exponent_of_a_negative_number_has_the_size_s_noise():
    """A tensor of exponents is noisy, so that none is whole: the runs were NaN, and the scale 0."""
    exponents = noisy(np.full(3, 3.0))
    with np.errstate(invalid="ignore"):
        below = np.power(noisy([-0.5, -1.5, -2.5]), exponents)
        root = np.power(noisy([-0.5]), noisy([0.5]))
    np.testing.assert_array_equal(below.exact, [-0.125, -3.375, -15.625])
    assert np.isfinite(below.runs).all()
    roundings = scale(below) / np.abs(below.exact)  # 3 of the base, 3 log(a) of the exponent, and one of the result
    assert (roundings > 0.5).all()
    assert (roundings < 8).all()
    assert np.isnan(root.exact).all()
