"""Draws from the pool: normal, the same for one key, and independent where the judge takes them to be."""

import numpy as np
import pytest

from opproof.harness.reference.montecarlo.sampling import MAX_WINDOW_DRAWS, Pooled


def draws(key, shape, times=1):
    source = Pooled(key)
    found = [source.added(np.zeros(shape), 1.0) for _ in range(times)]
    return found[0] if times == 1 else np.stack(found)


@pytest.mark.parametrize("shape", [(16, 1), (16, 33), (16, 3, MAX_WINDOW_DRAWS // 16), (16, MAX_WINDOW_DRAWS + 5)])
def test_one_key_gives_the_same_draws_and_another_key_others(shape):
    assert np.array_equal(draws(1, shape, 3), draws(1, shape, 3))
    assert not np.isin(draws(1, shape).flat[:16], draws(2, shape).flat[:16]).all()


def test_draws_are_normal():
    x = np.sort(np.concatenate([draws(k, (16, 4096)).ravel() for k in range(4)]))
    assert abs(x.mean()) < 0.01
    assert abs(x.std() - 1) < 0.01
    assert abs((x**4).mean() - 3) < 0.1
    assert [np.mean(np.abs(x) > s) for s in (1, 2, 3)] == pytest.approx([0.3173, 0.0455, 0.0027], rel=0.1)


@pytest.mark.parametrize("length", [1, 100, 5000, 65537])
def test_runs_and_roundings_share_no_draws(length):
    """The sum of k roundings of one element has the deviation sqrt(k); and so has the sum of a row, of all runs."""
    many = draws(3, (16, length), 9)
    assert np.mean(np.square(many.sum(axis=0))) == pytest.approx(9, rel=6 / np.sqrt(16 * length) + 0.02)
    correlated = np.corrcoef(many.reshape(9 * 16, length)) if length >= 5000 else np.eye(1)
    assert np.abs(correlated - np.eye(len(correlated))).max() < 8 / np.sqrt(length)


def test_the_rms_of_sums_is_that_of_fresh_draws():
    """Over many keys, of 16 runs of a sum of two noisy rows, as a reduction makes it."""
    ratios = [np.mean(np.square(draws(k, (16, 2000), 2).sum(axis=(0, 2)))) / 4000 for k in range(200)]
    fresh = np.random.default_rng(0)
    wanted = [np.mean(np.square(fresh.standard_normal((2, 16, 2000)).sum(axis=(0, 2)))) / 4000 for _ in range(200)]
    assert np.mean(ratios) == pytest.approx(np.mean(wanted), rel=0.1)
    assert np.std(ratios) == pytest.approx(np.std(wanted), rel=0.25)


def test_sizes_broadcast_to_a_run():
    zeros = np.zeros((16, 3, MAX_WINDOW_DRAWS))
    sizes = np.array([0.0, 1.0, 4.0])[:, None]
    noise = Pooled(1).added(zeros, sizes)
    assert noise.std(axis=(0, 2)) == pytest.approx([0, 1, 4], rel=0.02)
    assert np.array_equal(Pooled(1).added(zeros + 5, sizes), noise + 5)
    assert not zeros.any()
