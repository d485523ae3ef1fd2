"""An input of one sign, or away from zero, in all inputs given: what is wrong beyond is told, and is no failure."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402
from opproof.harness.check.tensors import CallTensor  # noqa: E402
from opproof.harness.check.triage.beyond_inputs import GivenRange, describe_beyond, find_ranges  # noqa: E402


def scaled(x, scale):
    return x * scale


def by_size(x, scale):
    """Right for scales that are not negative."""
    return x * scale.abs()


def floored(x, scale):
    """Right for scales that are not near 0."""
    return x * torch.where(scale.abs() < 0.1, 0.1, scale)


def draws(sign, low=0.5):
    """A factory whose scales are `low` to `low` + 1, of one sign or of both."""

    def make(seed, dtype):
        rng = torch.Generator().manual_seed(seed)
        scale = torch.rand(5, 7, generator=rng) + low
        signs = torch.where(torch.rand(5, 7, generator=rng) < 0.5, 1.0, -1.0) if sign == 0 else sign
        return [torch.randn(5, 7, generator=rng).to(dtype), (scale * signs).to(dtype)]

    return make


def judged(candidate, inputs, **options):
    return opproof.check(candidate, like=scaled, inputs=inputs, dtype="f32", raises=False, seconds=1e9, **options)


@pytest.mark.parametrize(
    ("candidate", "inputs", "only", "said"),
    [
        (
            by_size,
            draws(1),
            "negative values",
            "scale is not positive there, as it is in all inputs given: WRONG_VALUE",
        ),
        (by_size, draws(1), "values of both signs", "scale is not positive there"),
        (lambda x, s: x * -s.abs(), draws(-1), "values of both signs", "scale is not negative there"),
        (floored, draws(1), "small values", "scale comes nearer to 0 there than 0.5"),
        (floored, draws(0), "small values", "scale comes nearer to 0 there than 0.5"),
    ],
)
def test_what_is_wrong_beyond_the_inputs_given_is_told_apart(candidate, inputs, only, said):
    told = judged(candidate, inputs, only=only)
    assert not told.failures
    (text,) = told.beyond
    assert text.startswith(f"{only}: {said}")
    assert f"beyond the inputs given, and a failure with beyond=True: {text}" in str(told)
    assert text[:200] in told.to_json()
    failed = judged(candidate, inputs, only=only, beyond=True)
    assert "WRONG_VALUE" in failed.failures
    assert not failed.beyond
    assert "beyond=True" in opproof.check(
        candidate, like=scaled, inputs=inputs, only=only, beyond=True, raises=False, seconds=1
    ).repro(failed.worst)


@pytest.mark.parametrize(
    ("candidate", "inputs", "only"),
    [
        (by_size, draws(0), "as given"),  # it is of both signs
        (floored, draws(1, low=0.0), "small values"),  # it comes near 0
        (lambda x, s: x * s * 1.001, draws(1), "wide values"),  # within the range
        (lambda x, s: x * s * 1.001, draws(1), "as given"),
    ],
)
def test_what_is_wrong_within_the_inputs_given_fails(candidate, inputs, only):
    found = judged(candidate, inputs, only=only)
    assert "WRONG_VALUE" in found.failures
    assert not found.beyond


def test_shapes_have_no_range():
    assert "WRONG_VALUE" in judged(by_size, [(5, 7), (5, 7)], only="as given").failures


def tensor(*values, **facts):
    return CallTensor("x", np.array(values, dtype=np.float64), "float32", **facts)


def test_ranges():
    positive, away = np.linspace(0.001, 1.0, 24), np.linspace(0.5, 1.5, 24)
    assert find_ranges([[tensor(*positive)]]) == {"x": GivenRange(1, 0.0)}
    assert find_ranges([[tensor(*np.linspace(0.05, 1.0, 500))]]) == {"x": GivenRange(1, 0.0)}, "as near zero as others"
    assert find_ranges([[tensor(*away)]]) == {"x": GivenRange(1, 0.5)}
    assert find_ranges([[tensor(*-away)]]) == {"x": GivenRange(-1, 0.5)}
    assert find_ranges([[tensor(*away, *-away)]]) == {"x": GivenRange(0, 0.5)}
    assert find_ranges([[tensor(*positive)], [tensor(-1.0)]]) == {}, "another draw has the other sign"
    assert find_ranges([[tensor(*positive[:4])]]) == {}, "so few are of one sign by chance"
    assert find_ranges([[tensor(*positive, param=True)]]) == {}, "a parameter is moved at will"
    assert find_ranges([[tensor(*positive, param=True, buffer=True)]]) == {"x": GivenRange(1, 0.0)}


def test_zero_is_within_a_range_that_comes_near_it():
    ranges = {"x": GivenRange(1, 0.0)}
    assert describe_beyond(ranges, [tensor(0.0, 1.0)]) == ""
    assert describe_beyond(ranges, [tensor(0.0, -1e-9)]) == "x is not positive there, as it is in all inputs given"
    assert describe_beyond({"x": GivenRange(0, 0.5)}, [tensor(0.0)]).startswith("x comes nearer to 0 there than 0.5")


def test_the_cases_of_an_operator_have_no_range():
    with pytest.raises(UsageError, match="beyond belongs to like="):
        opproof.check(torch.softmax, "softmax", beyond=True)
