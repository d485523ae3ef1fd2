"""Moves of all runs at once are those of each run by itself, whatever the axes and the indices."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from opproof.harness.reference.montecarlo.array import NoisyArray, Source
from opproof.harness.reference.montecarlo.moves import _RULES, _apply_to_each_run
from opproof.harness.reference.montecarlo.sampling import Pooled
from opproof.harness.reference.montecarlo.sums import exact_of, map_arrays

SHAPE = (3, 4, 5)
PLAIN = np.arange(60.0).reshape(SHAPE)
INDEX = np.array([2, 0, 2])
WITHIN = np.argsort(np.sin(PLAIN), axis=1)

MOVES = {
    "reshape": (np.reshape, (), (12, 5)),
    "reshape, column by column": (np.reshape, (), (12, 5), "F"),
    "ravel": (np.ravel, ()),
    "ravel, column by column": (np.ravel, (), "F"),
    "expand_dims": (np.expand_dims, (), 1),
    "expand_dims, behind": (np.expand_dims, (), -1),
    "squeeze": (np.squeeze, (np.s_[:, :1],), 1),
    "squeeze, all": (np.squeeze, (np.s_[:, :1],)),
    "copy": (np.copy, ()),
    "transpose": (np.transpose, ()),
    "transpose, axes": (np.transpose, (), (1, -1, 0)),
    "swapaxes": (np.swapaxes, (), 0, -1),
    "moveaxis": (np.moveaxis, (), 0, -1),
    "moveaxis, two": (np.moveaxis, (), (0, 1), (-1, 0)),
    "flip": (np.flip, ()),
    "flip, axis": (np.flip, (), 0),
    "flip, axes": (np.flip, (), (0, -1)),
    "roll": (np.roll, (), 2, 0),
    "roll, axes": (np.roll, (), (2, 1), (0, -1)),
    "roll, flat": (np.roll, (), 7),
    "repeat": (np.repeat, (), 2, 0),
    "repeat, flat": (np.repeat, (), 2),
    "take": (np.take, (), INDEX, 0),
    "take, flat": (np.take, (), INDEX),
    "take_along_axis": (np.take_along_axis, (), WITHIN, 1),
    "take_along_axis, behind": (np.take_along_axis, (), WITHIN[:, :, :1], -1),
    "broadcast_to": (np.broadcast_to, (np.s_[0],), (2, 3, 4, 5)),
    "tril": (np.tril, ()),
    "triu": (np.triu, (), 1),
    "triu, of a vector": (np.triu, (np.s_[0, 0],)),
    "pad": (np.pad, (), ((1, 0), (0, 2), (0, 0))),
    "pad, every side": (np.pad, (), 1),
    "pad, edges": (np.pad, (), (1, 2), "edge"),
    "windows": (sliding_window_view, (), (2, 3), (0, 2)),
    "windows, all": (sliding_window_view, (), (2, 2, 2)),
    "split": (np.split, (), 2, 1),
    "split, places": (np.split, (), [1, 2], -1),
    "tile": (np.tile, (), 2),
}


def noisy(plain=PLAIN):
    return Source(Pooled(1), 16, 2.0**-30, 2.0**-30).wrap(plain)


def assert_as_each_run(func, *args, **kwargs):
    exact = func(*map_arrays(exact_of, args), **map_arrays(exact_of, kwargs))
    each = _apply_to_each_run(func, args, kwargs, exact, 16)
    found = func(*args, **kwargs)
    pairs = zip(found, each, strict=True) if isinstance(found, list) else [(found, each)]
    for result, runs in pairs:
        assert result.runs.shape == (16, *result.exact.shape)
        np.testing.assert_array_equal(result.runs, runs)


@pytest.mark.parametrize("name", MOVES)
def test_a_move_of_all_runs_is_that_of_each(name):
    func, index, *args = MOVES[name]
    x = noisy()
    assert_as_each_run(func, x[index[0]] if index else x, *args)


def test_moves_of_several_arrays():
    x = noisy()
    for axis in (0, 1, -1):
        assert_as_each_run(np.concatenate, [x, PLAIN, x], axis=axis)
        assert_as_each_run(np.stack, [PLAIN, x], axis)
    assert_as_each_run(np.where, PLAIN > 20, x, 0.0)
    assert_as_each_run(np.where, PLAIN > 20, x[0, 0], x)
    assert_as_each_run(np.where, np.ones((2, 1, 1, 1), dtype=bool), x, x[0])


def test_every_rule_is_tried():
    assert {func for func, *_ in MOVES.values()} | {np.concatenate, np.stack, np.where} >= {*_RULES} - {np.permute_dims}


INDICES = [
    *(0, -1, np.s_[1:], np.s_[..., 0], np.s_[:, None], np.s_[0, 1, 2], INDEX, [0, 2], np.s_[INDEX, 1]),
    *(np.s_[1, :, INDEX], np.s_[INDEX, :, INDEX], np.s_[:, INDEX, INDEX], np.s_[..., INDEX]),
    *(PLAIN > 30, np.s_[:, PLAIN[0] > 3]),
    *(np.s_[np.array([[0, 1], [2, 0]])], np.s_[::-1, ::2], np.s_[INDEX, None, INDEX], np.s_[PLAIN[:, 0, 0] > 3, 1]),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_an_index_reaches_the_same_elements_of_every_run(index):
    x = noisy()
    np.testing.assert_array_equal(x[index].runs, np.stack([r[index] for r in x.runs]))
    for value in (7.0, noisy(np.broadcast_to(PLAIN, SHAPE))[index] * 3, PLAIN[index] * 2):
        y, plain = noisy().copy(), PLAIN.copy()
        each = [r.copy() for r in y.runs]
        y[index] = value
        plain[index] = exact_of(value)
        for i, run in enumerate(each):
            run[index] = value.runs[i] if isinstance(value, NoisyArray) else value
        np.testing.assert_array_equal(y.exact, plain)
        np.testing.assert_array_equal(y.runs, each)


def test_what_is_written_to_a_view_reaches_the_array_as_in_numpy():
    x = noisy().copy()
    row = np.swapaxes(x, 0, 1)[2]
    row[...] = 5.0
    assert (x.exact[:, 2] == 5).all()
    assert (x.runs[:, :, 2] == 5).all()
