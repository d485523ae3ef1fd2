"""Conventions of attention and of rotary embedding that no second reference settles."""

import numpy as np
import pytest

from opproof.reference_ops import load

RNG = np.random.default_rng(7)


def test_rows_that_see_nothing_are_zero_and_get_no_gradient():
    q, k, v = (RNG.standard_normal((1, 2, 3, 4)) for _ in range(3))
    keep = np.ones((3, 3), dtype=np.int64)
    keep[1] = 0
    op = load("scaled_dot_product_attention")
    y = op.forward(q, k, v, None, keep)
    assert (y[:, :, 1] == 0).all()
    assert (y[:, :, 0] != 0).all()
    dq, dk, dv, *_ = op.vjp(np.ones_like(y), y, q, k, v, None, keep)
    assert (dq[:, :, 1] == 0).all()
    assert np.isfinite(dk).all()
    assert np.isfinite(dv).all()


def test_empty_rows_of_softmax_ext_are_zero_with_and_without_sinks():
    x, keep = RNG.standard_normal((1, 2, 3, 4)), np.zeros((3, 4), dtype=np.int64)
    for sinks in (None, np.array([0.5, -1e4])):
        assert (load("softmax_ext").forward(x, None, sinks, keep) == 0).all()


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_large_scores_saturate_without_nan(size):
    x = np.array([[[[size, 0.0, -size]]]])
    y = load("softmax_ext").forward(x, None, np.array([0.0]))
    assert np.isfinite(y).all()
    assert y.max() == 1


def test_causal_counts_from_the_first_key_whatever_the_lengths():
    q, k, v = (RNG.standard_normal((1, 1, n, 4)) for n in (2, 5, 5))
    y = load("scaled_dot_product_attention").forward(q, k, v, is_causal=True)
    np.testing.assert_allclose(y[0, 0, 0], v[0, 0, 0])


def test_alibi_slopes_of_eight_heads_are_the_papers():
    x = np.zeros((8, 1, 2))
    y = load("alibi").forward(x, max_bias=8.0)
    np.testing.assert_allclose(-y[:, 0, 1], [2.0**-i for i in range(1, 9)])


def test_alibi_heads_beyond_a_power_of_two_take_every_second_slope():
    y = load("alibi").forward(np.zeros((6, 1, 2)), max_bias=8.0)
    np.testing.assert_allclose(-y[:, 0, 1], [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3])


@pytest.mark.parametrize("mode", ["norm", "neox"])
def test_rope_back_undoes_rope_and_leaves_other_channels(mode):
    x, positions = RNG.standard_normal((2, 3, 2, 10)), np.array([5, 0, 190])
    params = load("rope").params | {"n_dims": 6, "mode": mode}
    y = load("rope").forward(x, positions, **params)
    assert (y[..., 6:] == x[..., 6:]).all()
    assert (y[:, 1] == x[:, 1]).all()
    np.testing.assert_allclose(load("rope_back").forward(y, positions, **params), x, atol=1e-14)


def test_a_row_that_is_set_twice_keeps_the_last():
    x, source, indices = np.zeros((3, 2)), np.array([[1.0, 1], [2, 2], [3, 3]]), np.array([2, 0, 2])
    op = load("set_rows")
    y = op.forward(x, source, indices)
    assert y.tolist() == [[2, 2], [0, 0], [3, 3]]
    dx, dsource, _ = op.vjp(np.ones_like(x), y, x, source, indices)
    assert dsource.tolist() == [[0, 0], [1, 1], [1, 1]]
    assert dx.tolist() == [[0, 0], [1, 1], [0, 0]]
