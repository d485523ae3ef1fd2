"""Numbers of a reference that float32 has not: what cancels with them is not a candidate's fault."""

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402


def normal(seed, dtype):
    return [torch.randn(9, 33, generator=torch.Generator().manual_seed(seed)).to(dtype)]


def judged(candidate, like, dtype="f32"):
    return opproof.check(candidate, like=like, inputs=normal, dtype=dtype, raises=False, only="as given")


def clamped(x):
    return 1 / (1 - x.clamp(max=0.9999))


def added(x):
    return x / ((x * 0 + 0.9999) - 1)


def filled(x):
    return x / (1 - x.masked_fill(x > 0, 0.9999))


def by_torch(x):
    return 1 / (1 - torch.where(x < 0.9999, x, 0.9999))


@pytest.mark.parametrize("reference", [clamped, added, filled, by_torch])
def test_a_reference_is_what_it_is(reference):
    assert judged(reference, reference).ok


def test_the_number_beside_it_is_another():
    """0.99989998 is float32's; 0.9999001 is one that it has as well."""
    report = judged(lambda x: 1 / (1 - x.clamp(max=0.99992)), clamped)
    assert {str(r.verdict) for rs in report.failures.values() for r in rs} == {"WRONG_VALUE"}


def test_numbers_that_float32_has_are_exact():
    report = judged(lambda x: 1 / (1 - x.clamp(max=0.875 + 2**-22)), lambda x: 1 / (1 - x.clamp(max=0.875)))
    assert {str(r.verdict) for rs in report.failures.values() for r in rs} == {"WRONG_VALUE"}
