"""What rounds nothing: products with powers of two, powers of two with whole exponents, where inputs have no noise."""

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic, BranchTape, NoiseLevels  # noqa: E402
from opproof.harness.reference.torch.rounding import in_places, is_power_of_two  # noqa: E402


def test_powers_of_two():
    assert all(map(is_power_of_two, (1, 2, 0.25, -8.0, 0, 0.0)))
    assert not any(map(is_power_of_two, (3, 0.1, float("inf"), True, "2", None)))


@pytest.mark.parametrize("algorithm", [Algorithm.GIVEN, Algorithm.PLAIN])
def test_where_inputs_have_no_noise(algorithm):
    noise = Arithmetic(torch, BranchTape(), NoiseLevels(1e-3, 1e-3, 0.0), algorithm=algorithm)
    x, scale = torch.tensor([3.0, 5.0, 7.0]).double(), torch.tensor([0.5, 3.0, 2.0]).double()
    rounded = x / scale * 1.001
    found = in_places(noise, "div", (x, scale), x / scale, rounded)
    expected = [True, False, True] if algorithm is Algorithm.GIVEN else [False] * 3
    assert (found == x / scale).tolist() == expected
    assert torch.equal(in_places(noise, "div", (scale, x), scale / x, scale / x * 2), scale / x * 2), (
        "of a divisor alone"
    )
    powers = torch.tensor([2.0, 2.5]).double()
    exact = (in_places(noise, "exp2", (powers,), powers.exp2(), powers.exp2() * 2) == powers.exp2()).tolist()
    assert exact == ([True, False] if algorithm is Algorithm.GIVEN else [False, False])
