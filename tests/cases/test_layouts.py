"""Layouts: strides and storage as described, poison between the elements, broadcast slices equal."""

import numpy as np
import pytest

from opproof.backends.worker.protocol import read_array_at
from opproof.cases import Case
from opproof.cases._layouts import LAYOUTS, Storage, layouts_of, storage_of
from opproof.core.dtypes import DTYPES
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode
from opproof.harness.reference.data import inputs_of
from opproof.harness.reference.question import Question
from opproof.harness.run.memory import find_unwritten, make_layout, write
from opproof.harness.run.request import Request
from opproof.reference_ops import load

EXPECTED = {
    "contiguous": Storage(24, 0, (12, 4, 1)),
    "transposed": Storage(24, 0, (12, 1, 3)),
    "permuted": Storage(24, 0, (1, 2, 6)),
    "exchanged": Storage(24, 0, (4, 8, 1)),
    "middle": Storage(24, 0, (12, 4, 1)),
    "loose": Storage(24, 0, (12, 4, 1)),
    "channels": Storage(24, 0, (12, 1, 3)),
    "sliced": Storage(47, 0, (24, 8, 2)),
    "gapped": Storage(39, 0, (21, 7, 1)),
    "cropped": Storage(32, 0, (20, 4, 1)),
    "offset": Storage(25, 1, (12, 4, 1)),
    "broadcast": Storage(12, 0, (0, 4, 1)),
}


def test_every_layout_is_listed():
    assert set(EXPECTED) == set(LAYOUTS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_storage(layout):
    assert storage_of((2, 3, 4), layout) == EXPECTED[layout]


def test_the_middle_axes_lie_swapped_and_rows_stay():
    assert storage_of((2, 3, 5, 4), "middle") == Storage(120, 0, (60, 4, 12, 1))


def test_axes_of_size_one_have_strides_that_fit_no_other():
    assert storage_of((1, 3, 1, 4), "loose") == Storage(12, 0, (7, 4, 7, 1))


def reach(shape, storage):
    """First and last element touched."""
    spans = [(n - 1) * s for n, s in zip(shape, storage.strides, strict=True)]
    return storage.offset, storage.offset + sum(spans)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (1, 1), (5, 3), (1, 4, 1), (2, 3, 4, 5)])
def test_storage_ends_with_the_last_element(shape, layout):
    """One element too far is past the buffer, whatever the layout."""
    storage = storage_of(shape, layout)
    first, last = reach(shape, storage)
    assert first in (0, storage.offset)
    assert last == storage.size - 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_empty_tensors_hold_nothing(shape, layout):
    assert storage_of(shape, layout).size in ((0, 1) if layout == "offset" else (0,)) or layout == "gapped"


def in_memory(text, *values):
    """The tensors of the case `text` as a host has them, the bytes of the first, and the request."""
    case = Case.parse(text)
    posed = Question(case, load(case.op), Mode.FORWARD, tuple(case.shapes), values, (), ())
    layout = make_layout(Request(posed, ()), alignment=64)
    memory = np.zeros(layout.request.size, np.uint8)
    write(layout, memory)
    first = layout.buffers[0]
    arrays = [p if isinstance(p, int) else read_array_at(p, memory) for p in layout.request.inputs]
    return arrays, memory[first.start : first.end], layout.request


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64"])
@pytest.mark.parametrize("layout", [k for k in LAYOUTS if k != "broadcast"])
def test_values_lie_there_and_poison_between(layout, dtype):
    values = np.arange(24).reshape(2, 3, 4).astype(np.int64 if dtype == "i64" else np.float64)
    storage = storage_of(values.shape, layout)
    name = "f32" if dtype == "i64" else dtype
    (array,), memory, _ = in_memory(f"relu[x=2x3x4;{name};layout={layout}]", values)
    np.testing.assert_array_equal(array.astype(values.dtype), values)
    assert array.dtype == (np.int64 if dtype == "i64" else DTYPES[dtype].numpy)
    assert array.strides == tuple(s * array.itemsize for s in storage.strides)
    flat = memory.view(array.dtype)
    assert flat.size == storage.size
    assert find_unwritten(flat).sum() == storage.size - values.size


def test_one_array_given_twice_lies_there_once():
    x = np.arange(15.0).reshape(3, 5)
    (a, b), _, request = in_memory("add[a=3x5;b=@a;f32]", x, x)
    np.testing.assert_array_equal(a, x)
    assert b == 0
    assert len(request.zones) == 1
    (a, b), _, request = in_memory("add[a=3x5;b=3x5;f32]", x, x.copy())
    np.testing.assert_array_equal(a, b)
    assert len(request.zones) == 2


def test_broadcast_slices_are_equal():
    case = Case.parse("add[a=5x7;b=5x7;f32;layout=a:broadcast]")
    found = inputs_of(case, load("add"))
    assert np.ptp(found["a"], axis=0).max() == 0
    assert np.ptp(found["b"], axis=0).min() > 0
    (array, _), memory, _ = in_memory(str(case).replace("f32", "f64"), found["a"], found["b"])
    assert array.strides == (0, 8)
    assert memory.size == 7 * 8
    np.testing.assert_array_equal(array, found["a"])


def test_one_name_for_all_or_one_per_tensor():
    assert layouts_of(Case.parse("add[a=5x7;b=7,;f32;layout=gapped]")) == {"a": "gapped", "b": "gapped"}
    assert layouts_of(Case.parse("add[a=5x7;b=7,;f32;layout=b:sliced]")) == {"a": "contiguous", "b": "sliced"}
    both = Case.parse("add[a=5x7;b=7,;f32;layout=b:sliced,a:offset]")
    assert layouts_of(both) == {"a": "offset", "b": "sliced"}


def test_unknown_layouts():
    with pytest.raises(CaseError, match="^unknown layout 'bent' in .*: expected one of contiguous, transposed, "):
        layouts_of(Case.parse("relu[x=3x3;f32;layout=bent]"))
    with pytest.raises(CaseError, match="^layout=y:sliced in .*: no tensor 'y'; there are x.$"):
        layouts_of(Case.parse("relu[x=3x3;f32;layout=y:sliced]"))
