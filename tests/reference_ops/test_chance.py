"""What may be chance passes, ten thousand times; what is not does not."""

import numpy as np
import pytest

from opproof.reference_ops import _chance


@pytest.mark.parametrize("q", [0.5, 0.1, 0.99, 0.001])
def test_chance_passes(q):
    r = np.random.default_rng(3)
    for shape in [(1,), (7,), (33, 65), (4, 5, 7), (1, 1025), (0, 3), ()]:
        for _ in range(100):
            a, b = (np.asarray(r.random(shape) < q) for _ in range(2))
            assert not _chance.uneven(a, q)
            assert not _chance.repeated(a, q)
            assert not _chance.alike(a, b, q)


def test_the_bound_holds_of_few_and_of_certain_ones():
    assert not _chance.unlikely(20, 20, 0.5)
    assert _chance.unlikely(40, 40, 0.5)
    assert _chance.unlikely(0, 40, 0.5)
    assert _chance.unlikely(1, 10**6, 0.0)
    assert _chance.unlikely(10**6 - 1, 10**6, 1.0)
    assert not _chance.unlikely(0, 0, 0.3)
    assert not _chance.unlikely(0, 100, 0.0)
    assert not _chance.unlikely(100, 100, 1.0)


@pytest.mark.parametrize("count", [32, 64, 1000])
def test_repetition_is_found_at_its_distance(count):
    r = np.random.default_rng(1)
    assert f"{count} apart" in _chance.repeated(np.resize(r.random(count) < 0.7, 3000), 0.7)
