"""What a failure looked like: its inputs in numbers, its worst elements, the picture of its error."""

import re

import numpy as np
import pytest
from _ask import attempted

from opproof.cases import Case
from opproof.harness.judge.bound import C, Comparison
from opproof.harness.repro.evidence import MAX_CLOSE_UP_CELLS, MAX_PICTURE_CELLS, MAX_WORST_ELEMENTS, draw_pictures
from opproof.harness.run.record import record
from opproof.harness.run.task import Task
from opproof.reference_ops import load


class Spoilt:
    """The reference, with `change` done to what it answers."""

    def __init__(self, change):
        self.change = change

    def forward(self, op, inputs, params):
        y = np.asarray(load(op).forward(*[x.astype(np.float64) for x in inputs], **params))
        return self.change(y.astype(inputs[0].dtype))

    def vjp(self, op, inputs, params, cotangents, needs):
        wide = [x.astype(np.float64) for x in inputs]
        g = load(op).vjp(cotangents[0].astype(np.float64), load(op).forward(*wide, **params), *wide, **params)
        return [self.change(np.asarray(g).astype(inputs[0].dtype))]


def seen(case, change, mode="forward"):
    return record(Task("spoilt", case, mode), attempted(Spoilt(change), case, mode))


def cells_of(picture):
    """The letters as an array of cells."""
    letters = "".join(letter * int(times or 1) for letter, times in re.findall(r"([a-z])(\d*)", picture.cells))
    return np.array(list(letters)).reshape(picture.grid)


def failing(picture):
    return cells_of(picture) > "c"


def only_the_tail(y):
    y[:, 32:] *= 1.01
    return y


def row_0(y):
    y[0] *= 1.5
    return y


def checkerboard(y):
    y[np.indices(y.shape).sum(axis=0) % 2 == 1] *= 1.001
    return y


def test_a_pass_has_none():
    found = seen("sigmoid[x=7x33;f32]", lambda y: y)
    assert (found.verdict, found.evidence) == ("PASS", None)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (only_the_tail, lambda r, c: c >= 32),
        (row_0, lambda r, c: r == 0),
        (checkerboard, lambda r, c: (r + c) % 2 == 1),
    ],
)
def test_the_picture_shows_where(change, where):
    (picture,) = seen("sigmoid[x=7x33;f32]", change).evidence.pictures
    assert (picture.tensor, picture.shape, picture.grid) == ("y", (7, 33), (7, 33))
    assert (failing(picture) == where(*np.indices((7, 33)))).all()


def test_the_worst_elements_are_the_worst():
    found = seen("sigmoid[x=7x33;f32]", row_0)
    elements = found.evidence.elements
    assert elements[0] == found.worst
    assert len(elements) == MAX_WORST_ELEMENTS
    excess = [abs(e.got - e.expected) / e.bound for e in elements]
    assert excess == sorted(excess, reverse=True)
    assert min(excess) > 1
    assert {e.index[0] for e in elements} == {0}


def test_fewer_failures_than_elements_kept():
    def last(y):
        y[-1, -1] = np.nan
        return y

    found = seen("sigmoid[x=7x33;f32]", last)
    assert [(e.index, e.got) for e in found.evidence.elements] == [((6, 32), "nan")]
    assert cells_of(found.evidence.pictures[0])[6, 32] == "z"


def test_a_gradient_has_its_own_picture_and_its_cotangent():
    found = seen("sigmoid[x=7x33;f32;layout=transposed]", row_0, "gradient")
    assert found.verdict == "WRONG_GRADIENT"
    assert failing(found.evidence.pictures[0]).any(axis=1).tolist() == [True] + [False] * 6
    assert [(x.name, x.layout, x.strides) for x in found.evidence.inputs] == [
        ("x", "transposed", (1, 7)),
        ("cotangent of y", "transposed", (1, 7)),
    ]


def test_inputs_in_numbers():
    case = "sigmoid[x=7x33;f32;fill=special]"
    x = seen(case, lambda y: y * 2).evidence.inputs[0]
    from opproof.harness.reference.data import inputs_of

    values = inputs_of(Case.parse(case), load("sigmoid"))["x"]
    finite = values[np.isfinite(values)]
    assert (x.name, x.shape, x.dtype, x.layout, x.strides, x.fill) == (
        "x",
        (7, 33),
        "f32",
        "contiguous",
        (33, 1),
        "special",
    )
    assert (x.nans, x.infs) == (np.isnan(values).sum(), np.isinf(values).sum())
    assert x.nans + x.infs > 0
    assert [x.low, x.high, x.size] == pytest.approx([finite.min(), finite.max(), np.abs(finite).mean()], rel=1e-5)
    assert [float(v) for v in x.first] == pytest.approx(values.ravel()[:4], nan_ok=True)


def test_settled_before_any_comparison_there_are_inputs_alone():
    found = seen("sigmoid[x=7x33;f32]", lambda y: y[1:])
    assert found.verdict == "WRONG_SHAPE"
    assert found.evidence.inputs
    assert found.evidence.elements == found.evidence.pictures == ()


def test_index_tensors_and_empty_tensors_have_numbers_too():
    indices = seen("gather[x=7x9;index=5x9;dim=0;f32]", lambda y: y + 1)
    assert [x.dtype for x in indices.evidence.inputs] == ["f32", "int64"]
    empty = seen("relu[x=3x0;f32]", lambda y: y.T)
    assert (empty.evidence.inputs[0].low, empty.evidence.inputs[0].first) == (None, ())


def units_of(levels, limit=C):
    units = np.asarray(levels, dtype=np.float64)
    limits = np.broadcast_to(np.asarray(limit, dtype=np.float64), units.shape)
    return Comparison(units, limits, np.ones(units.shape), units <= limits, np.full(units.shape, np.nan))


def test_letters():
    assert draw_pictures("y", units_of([0.0, np.inf, 3.0], limit=0.0))[0].cells == "az2"
    units = C * np.array([0, 0.5 / C, 1 / C, 1, 1.001, 3.1, 3.2, 10.1, 1e5 + 1, 1e30, np.inf])
    assert draw_pictures("y", units_of(units))[0].cells == "ab2cd2efnwz"


def test_letters_go_by_the_limit_of_each_element():
    assert draw_pictures("y", units_of([1.5, 2.5, 2.5, 15.0, 17.0, 65.0], [2, 2, 16, 16, 16, 2]))[0].cells == "cdc2dg"


def test_the_worst_element_is_the_farthest_beyond_its_own_limit():
    comparison = units_of([20.0, 9.0, 15.0], [16, 2, 16])
    assert comparison.worst == (1,)


def test_a_large_tensor_is_shown_in_blocks_and_close_up():
    units = np.zeros((3, 70, 100))
    units[2, 69, 99] = 50.0
    whole, close = draw_pictures("y", units_of(units))
    assert (whole.rows, whole.columns, whole.grid) == ((0, 210), (0, 100), (MAX_PICTURE_CELLS, MAX_PICTURE_CELLS))
    assert np.argwhere(failing(whole)).tolist() == [[MAX_PICTURE_CELLS - 1, MAX_PICTURE_CELLS - 1]]
    assert (close.rows, close.columns, close.grid) == (
        (210 - MAX_CLOSE_UP_CELLS, 210),
        (100 - MAX_CLOSE_UP_CELLS, 100),
        (MAX_CLOSE_UP_CELLS, MAX_CLOSE_UP_CELLS),
    )
    assert np.argwhere(failing(close)).tolist() == [[MAX_CLOSE_UP_CELLS - 1, MAX_CLOSE_UP_CELLS - 1]]


def test_every_element_is_in_the_block_that_is_said_to_hold_it():
    rows, h = 97, MAX_PICTURE_CELLS
    for row in range(rows):
        units = np.zeros((rows, 2))
        units[row, 1] = 50.0
        cell = int(np.argwhere(failing(draw_pictures("y", units_of(units))[0]))[0, 0])
        assert cell * rows // h <= row < (cell + 1) * rows // h


@pytest.mark.parametrize(
    ("shape", "grid"), [((), (1, 1)), ((1,), (1, 1)), ((19,), (1, 19)), ((5, 1), (1, 5)), ((2, 3, 1, 4), (6, 4))]
)
def test_every_shape_folds_to_two_axes(shape, grid):
    (picture,) = draw_pictures("y", units_of(np.full(shape, 50.0)))
    assert (picture.shape, picture.grid) == (shape, grid)


def test_the_record_of_a_large_failure_stays_small():
    import msgspec

    found = seen(
        "sigmoid[x=128x257;f32]", lambda y: y * (1 + np.random.default_rng(0).random(y.shape, dtype=np.float32))
    )
    assert len(msgspec.json.encode(found)) < 8_000
