"""Operators that call a function which a case names: what they refuse, and that they are what they are made of."""

import numpy as np
import pytest

from opproof.reference_ops import load

A, B = np.random.default_rng(1).normal(size=(2, 3, 4))


def test_a_function_of_another_number_of_tensors_is_refused():
    with pytest.raises(ValueError, match=r"mul is none of tanh, which take 1 tensors"):
        load("map").forward(A, function="mul")
    with pytest.raises(ValueError, match=r"relu is none of add, sub, mul, logaddexp, which take 2 tensors"):
        load("loop").forward(np.array([2]), A, B, function="relu")
    with pytest.raises(ValueError, match="relu is none of"):
        load("branch").forward(np.array([0]), A, B, functions=("add", "relu"))


def test_tensors_of_other_shapes_are_refused():
    for call in (
        lambda: load("map").forward(A, B[:1], function="mul"),
        lambda: load("branch").forward(np.array([0]), A, B[:1], functions=("add", "mul")),
        lambda: load("loop").forward(np.array([1]), A, B[:1], function="add"),
        lambda: load("scan").forward(A[0, :2], B, function="add"),
    ):
        with pytest.raises(ValueError, match=r"are of \("):
            call()


def test_a_branch_is_the_function_that_the_index_says():
    names = ("sub", "mul", "logaddexp")
    for i, name in enumerate(names):
        y = load("branch").forward(np.array([i]), A, B, functions=names)
        assert np.array_equal(y, load(name).forward(A, B))


def test_a_loop_of_no_trip_gives_what_it_got():
    dx, db = load("loop").vjp(B, A, np.array([0]), A, B, function="mul")[1:]
    assert np.array_equal(load("loop").forward(np.array([0]), A, B, function="mul"), A)
    assert np.array_equal(dx, B)
    assert not db.any()


def test_a_loop_goes_as_often_as_it_is_told():
    y = load("loop").forward(np.array([3]), A, B, function="sub")
    assert np.array_equal(y, A - B - B - B)


def test_a_scan_of_sums_is_a_cumulative_sum():
    last, y = load("scan").forward(np.zeros(4), A, function="add")
    assert np.allclose(y, np.cumsum(A, axis=0), rtol=1e-15)
    assert np.array_equal(last, y[-1])


def test_what_processes_get_of_each_other():
    x = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(load("all_reduce").forward(x, reduction="sum"), [[12, 15, 18, 21]] * 3)
    assert np.array_equal(load("all_reduce").forward(x, reduction="max"), [x[2]] * 3)
    assert np.array_equal(load("all_gather").forward(x), [np.arange(12)] * 3)
    assert np.array_equal(load("collective_permute").forward(x, pairs=(0, 1, 2, 0)), [x[2], x[0], [0] * 4])
    wide = np.arange(18.0).reshape(3, 6, 1)
    assert np.array_equal(load("reduce_scatter").forward(wide)[:, :, 0], [[18, 21], [24, 27], [30, 33]])
    assert np.array_equal(load("all_to_all").forward(wide)[:, :, 0][1], [2, 3, 8, 9, 14, 15])


@pytest.mark.parametrize("pairs", [(0, 1, 2, 1), (0, 1, 0, 2), (0, 3)])
def test_nobody_sends_or_gets_twice(pairs):
    with pytest.raises(ValueError, match="are no different ones of 3 processes"):
        load("collective_permute").forward(np.zeros((3, 2)), pairs=pairs)


def test_what_does_not_divide_among_processes_is_refused():
    for name in ("reduce_scatter", "all_to_all"):
        with pytest.raises(ValueError, match=r"no whole parts for 3 processes"):
            load(name).forward(np.zeros((3, 4, 2)))
