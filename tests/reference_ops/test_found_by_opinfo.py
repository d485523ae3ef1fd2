"""What PyTorch's own samples found wrong in references (docs/explanation/opinfo.md), with the right values."""

from __future__ import annotations

import numpy as np
import pytest

from opproof.reference_ops import load


@pytest.mark.parametrize(
    ("name", "a", "b", "whole"),
    [
        ("remainder", 1.0, 0.1, 9),  # 1 = 9 times the double 0.1, and a rest, though 1 / 0.1 is 10
        ("remainder", -1.0, 0.1, -10),
        ("remainder", 1.0, -0.1, -10),
        ("remainder", -1.0, -0.1, 9),
        ("remainder", 7.0, 2.0, 3),
        ("remainder", -7.0, 2.0, -4),
        ("fmod", 1.0, 0.1, 9),
        ("fmod", -1.0, 0.1, -9),
        ("fmod", 1.0, -0.1, -9),
        ("fmod", -7.0, 2.0, -3),
    ],
)
def test_a_remainder_s_gradient_is_the_whole_part_of_the_exact_quotient(name, a, b, whole):
    op, x, z = load(name), np.array([a]), np.array([b])
    y = op.forward(x, z)
    assert abs((a - whole * b) - y[0]) < 1e-15
    da, db = op.vjp(np.array([2.0]), y, x, z)
    assert (da[0], db[0]) == (2.0, -2.0 * whole)


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_where_b_is_zero_the_gradient_is_infinite(name):
    with np.errstate(all="ignore"):
        _, db = load(name).vjp(np.array([1.0]), np.array([np.nan]), np.array([5.0]), np.array([0.0]))
    assert db[0] == -np.inf


def test_indices_of_a_tensor_without_axes_name_its_one_cell():
    x, first, one = np.array(2.0), np.array(0), np.array([0])
    g = np.array(5.0)
    for index in (first, one):
        assert load("index_add").forward(x, index, np.array(3.0), dim=0, alpha=2) == 8
        assert load("index_select").forward(x, index, dim=0) == 2
        dx, _, dsource = load("index_add").vjp(g, g, x, index, np.array(3.0), dim=0, alpha=2)
        assert (dx, dsource) == (5, 10)
    assert load("scatter").forward(x, first, np.array(3.0), dim=0) == 3
    dx, _, dsrc = load("scatter").vjp(g, g, x, first, np.array(3.0), dim=-1)
    assert (dx, dsrc) == (0, 5)
    assert load("scatter_add").forward(x, first, np.array(3.0), dim=0) == 5
    assert load("gather").forward(x, first, dim=0) == 2
    assert load("gather").vjp(g, g, x, first, dim=0)[0] == 5


def test_a_number_is_added_at_a_view_without_axes():
    op = load("acc")
    y = op.forward(np.array([1.0, 2.0]), np.array(3.0), stride=(), offset=1)
    np.testing.assert_array_equal(y, [1, 5])
    da, db = op.vjp(np.array([7.0, 8.0]), y, np.array([1.0, 2.0]), np.array(3.0), stride=(), offset=1)
    np.testing.assert_array_equal(da, [7, 8])
    assert db == 8
    assert db.shape == ()


def test_the_axes_of_a_number_change_places():
    x, g = np.array(2.0), np.array(5.0)
    assert load("transpose").forward(x, dim0=0, dim1=-1) == 2
    assert load("transpose").vjp(g, x, x, dim0=0, dim1=0) == 5
