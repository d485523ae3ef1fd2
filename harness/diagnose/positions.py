"""Right numbers in the wrong place, or of an input read otherwise: transposed, shifted, by strides, heads, masks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases._layouts import Storage, layouts_of, row_major, storage_of
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.other_call import TensorRef, find_changed_tensor
from opproof.harness.diagnose.wrong import WrongTensor


def find_transposed(w: WrongTensor) -> str | None:
    for i, j in combinations(range(w.expected.ndim), 2):
        swapped = np.swapaxes(w.expected, i, j)
        if swapped.shape == w.expected.shape and w.fits(swapped):
            return f"{w.what} is transposed: its axes {i} and {j} are swapped"
        if w.fits(swapped.reshape(w.expected.shape)):
            return f"{w.what} is transposed: it is stored with its axes {i} and {j} swapped"
    if w.fits(w.expected.reshape(-1, order="F").reshape(w.expected.shape)):
        return f"{w.what} is stored with its axes in reverse order (column-major)"
    return None


def find_shifted(w: WrongTensor) -> str | None:
    """Every element is its neighbour's; the slice that has no neighbour may be anything."""
    for axis, n in enumerate(w.expected.shape):
        for step in (1, -1):
            inside = np.ones(w.expected.shape, dtype=bool)
            np.moveaxis(inside, axis, 0)[0 if step == 1 else -1] = False
            if n >= 3 and w.fits(np.roll(w.expected, step, axis), where=inside):
                return f"{w.what} is off by one along axis {axis}: element i holds the value of i {'-+'[step < 0]} 1"
    flat = w.expected.reshape(-1)
    for step in (1, -1) if flat.size >= 3 else ():
        at: Array = np.ones(flat.size, dtype=bool)
        at[0 if step == 1 else -1] = False
        candidate = np.roll(flat, step).reshape(w.expected.shape)
        if w.fits(candidate, where=at.reshape(w.expected.shape)):
            late = "late" if step > 0 else "early"
            return f"{w.what} is off by one in memory: every element is stored one place {late}"
    return None


def find_reversed(w: WrongTensor) -> str | None:
    for axis in range(w.expected.ndim):
        if w.fits(np.flip(w.expected, axis)):
            return f"{w.what} is reversed along axis {axis}"
    return None


def find_first_everywhere(w: WrongTensor) -> str | None:
    """The first slice in place of all of them: an index that stands still."""
    for axis, n in enumerate(w.expected.shape):
        if n > 1 and w.fits(np.broadcast_to(w.expected.take([0], axis), w.expected.shape)):
            return f"every slice of {w.what} along axis {axis} is the first one"
    return None


def find_ignored_stride(w: WrongTensor) -> str | None:
    def from_start(s: Storage, shape: tuple[int, ...]) -> Storage:
        return Storage(s.size, 0, row_major(shape))

    for change in (make_contiguous, from_start):
        if (name := _find_misread(w, change)) is not None:
            return f"the strides of {name} are ignored: it is read as if it were contiguous"
    return None


def find_ignored_offset(w: WrongTensor) -> str | None:
    name = _find_misread(w, from_the_beginning)
    return None if name is None else f"the storage offset of {name} is ignored: it is read from the storage's beginning"


def _find_misread(w: WrongTensor, change: Callable[[Storage, tuple[int, ...]], Storage]) -> str | None:
    """Names of the inputs that, read through a changed storage, explain the error."""
    for group, inputs in iter_misreadings(w, change):
        if w.explained(inputs=inputs):
            return " and ".join(group)
    return None


def make_contiguous(s: Storage, shape: tuple[int, ...]) -> Storage:
    """The storage of a tensor whose strides are not heeded."""
    return Storage(s.size, s.offset, row_major(shape))


def from_the_beginning(s: Storage, _: tuple[int, ...]) -> Storage:
    """The storage of a tensor whose offset is not heeded."""
    return Storage(s.size, 0, s.strides)


def iter_misreadings(
    w: WrongTensor, change: Callable[[Storage, tuple[int, ...]], Storage]
) -> Iterator[tuple[tuple[str, ...], list[Array | None]]]:
    """Inputs of which some are read through a changed storage, and their names: all of them, the floats, each alone."""
    layouts, misread = layouts_of(w.case), {}
    for name, v in zip(w.names, w.inputs, strict=True):
        if v is None or name is None:
            continue
        storage = storage_of(v.shape, layouts[name])
        wrong = change(storage, v.shape)
        last = wrong.offset + sum((n - 1) * s for n, s in zip(v.shape, wrong.strides, strict=True))
        if wrong != storage and last < storage.size and v.size:
            misread[name] = _read(v, storage, wrong)
    floats = tuple(
        str(n) for n, v in zip(w.names, w.inputs, strict=True) if n in misread and v is not None and v.dtype.kind == "f"
    )
    for group in dict.fromkeys([tuple(misread), floats, *((n,) for n in misread)]):
        if group:
            yield group, [misread[str(n)] if n in group else v for n, v in zip(w.names, w.inputs, strict=True)]


def _read(v: Array, written: Storage, read: Storage) -> Array:
    """`v` laid out as `written` in memory full of NaN, then read as `read`."""
    memory = np.full(max(written.size, math.prod(v.shape)), np.nan if v.dtype.kind == "f" else 0, dtype=v.dtype)
    item = v.dtype.itemsize
    np.ndarray(v.shape, v.dtype, memory, written.offset * item, tuple(s * item for s in written.strides))[...] = v
    return np.ndarray(v.shape, v.dtype, memory, read.offset * item, tuple(s * item for s in read.strides)).copy()


def find_moved_input(w: WrongTensor) -> str | None:
    """The elements of one input, or of the cotangent, in other places; of two that explain as much both are named."""
    return find_changed_tensor(w, _iter_moved)


def find_reversed_direction(w: WrongTensor) -> str | None:
    """A sum that runs along an axis, from the other end: right once all that has the axis is turned round."""
    for axis, n in enumerate(w.got.shape):
        if n < 3:
            continue
        inputs = [_flip_axis(v, axis, n) for v in w.inputs]
        y = w.again(inputs=inputs, cotangents=[_flip_axis(g, axis, n) for g in w.cotangents])
        if y is not None and w.fits(np.flip(y, axis)):
            return f"{w.what} is computed along axis {axis} from the other end"
    return None


def _flip_axis(v: Array | None, axis: int, n: int) -> Array | None:
    return np.flip(v, axis) if v is not None and v.ndim > axis and v.shape[axis] == n else v


def _iter_moved(place: TensorRef, v: Array) -> Iterator[tuple[Array, str]]:
    for other, said in _iter_moves(v):
        if not np.array_equal(other, v, equal_nan=v.dtype.kind == "f"):
            yield other, f"{place.name} {said}"


def _iter_moves(v: Array) -> Iterator[tuple[Array, str]]:
    """The tensor with its elements elsewhere, and how that is said; what is likelier first."""
    for i, j in combinations(range(v.ndim), 2):
        swapped = np.swapaxes(v, i, j)
        how = f"transposed: its axes {i} and {j} are swapped"
        if swapped.shape == v.shape:
            yield swapped, how
        elif min(v.shape[i], v.shape[j]) > 1:
            yield swapped.reshape(v.shape), f"read as if its axes {i} and {j} were stored swapped"
            back = (*v.shape[:i], v.shape[j], *v.shape[i + 1 : j], v.shape[i], *v.shape[j + 1 :])
            yield np.swapaxes(v.reshape(back), i, j), f"read as if it were stored with its axes {i} and {j} swapped"
    last = tuple(a for a in range(2, v.ndim) if v.shape[a] > 1)
    if len(last) > 1:
        yield np.flip(v, last), f"reversed along axes {', '.join(map(str, last))}"
    for axis, n in enumerate(v.shape):
        if n < 2:
            continue
        yield np.flip(v, axis), f"reversed along axis {axis}"
        if n > 2:
            yield np.roll(v, 1, axis), f"read one place early along axis {axis}"
            yield np.roll(v, -1, axis), f"read one place late along axis {axis}"
        yield np.broadcast_to(v.take([0], axis), v.shape), f"read at index 0 of axis {axis} everywhere"


def find_overwritten(w: WrongTensor) -> str | None:
    """Where indices name one place twice, one of the terms alone: what no atomic addition was made of."""
    if not w.op.repeats(w.mode):
        return None
    kind, tensors = ("cotangents", w.cotangents) if w.mode is Mode.GRADIENT else ("inputs", w.inputs)
    for name, index in zip(w.names, w.inputs, strict=True):
        if index is None or index.dtype.kind not in "iu":
            continue
        for i, v in enumerate(tensors):
            if v is None or v.dtype.kind != "f":
                continue
            for said, once in _iter_kept_once(index, v.shape, w.params.get("dim", 0)):
                if w.explained(**{kind: [*tensors[:i], np.where(once, v, 0), *tensors[i + 1 :]]}):
                    return (
                        f"where {name} names one place more than once, {w.what} has the {said} term alone, not the sum"
                    )
    return None


def _iter_kept_once(index: Array, shape: tuple[int, ...], dim: Any) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Masks of a tensor of `shape` that keep the last, or the first, of the elements that meet in one place."""
    places: Array = index.astype(np.int64)
    axis = dim if isinstance(dim, int) else 0
    if index.shape == shape and index.ndim > 1:  # along the axis alone
        lanes = np.arange(index.size // max(index.shape[axis], 1))
        lanes = lanes.reshape([1 if a == axis % index.ndim else n for a, n in enumerate(index.shape)])
        places = places + (np.ptp(places) + 1) * lanes
        spread = shape
    elif shape[: index.ndim] == index.shape:
        spread = (*index.shape, *(1,) * (len(shape) - index.ndim))
    elif index.ndim == 1 and shape and shape[axis] == index.size:
        spread = tuple(index.size if a == axis % len(shape) else 1 for a in range(len(shape)))
    else:
        return
    flat = places.reshape(-1)
    for said, order in (("last", flat[::-1]), ("first", flat)):
        kept = np.zeros(flat.size, dtype=np.bool_)
        kept[np.unique(order, return_index=True)[1]] = True
        yield said, (kept[::-1] if said == "last" else kept).reshape(spread)


def find_causal_edge(w: WrongTensor) -> str | None:
    """The causal mask one key too far, one too near, or aligned with the last key."""
    if not w.params.get("is_causal") or "keep" not in w.op.tensors:
        return None
    at, q, k = w.op.tensors.index("keep"), *(w.inputs[i].shape[-2] for i in (0, 1))  # type: ignore[union-attr]
    for edge, said in (
        (1, "query i sees key i + 1"),
        (-1, "query i does not see key i"),
        (k - q, "it ends at the last key"),
    ):
        seen, given = np.tri(q, k, edge, dtype=np.int64), w.inputs[at]
        keep = seen if given is None else seen * (given != 0)
        if edge and w.explained(
            inputs=[*w.inputs[:at], keep, *w.inputs[at + 1 :]], params={**w.params, "is_causal": False}
        ):
            return f"the causal mask has another edge: {said}"
    return None


def find_interleaved_heads(w: WrongTensor) -> str | None:
    """Heads that read the keys and values of the groups in turn, not of one group after the other."""
    if not w.params.get("enable_gqa"):
        return None
    number, groups = (w.inputs[i].shape[-3] for i in (0, 1))  # type: ignore[union-attr]
    turns = np.arange(number) % groups
    inputs = [v if v is None or i not in (1, 2) else np.take(v, turns, axis=-3) for i, v in enumerate(w.inputs)]
    if number > groups > 1 and w.explained(inputs=inputs, params={**w.params, "enable_gqa": False}):
        return f"head h reads keys and values of group h % {groups}, not of group h // {number // groups}"
    return None


def find_interleaved_groups(w: WrongTensor) -> str | None:
    """Channels dealt to the groups in turn."""
    number = w.params.get("num_groups", w.params.get("groups", 1))
    x = w.inputs[0]
    if w.mode is not Mode.FORWARD or x is None or x.ndim < 2 or not isinstance(number, int):
        return None
    channels = x.shape[1]
    if not 1 < number < channels or channels % number:
        return None
    dealt = np.arange(channels).reshape(-1, number).T.reshape(-1)
    others = [v if v is None or v.shape != (channels,) else v[dealt] for v in w.inputs[1:]]
    for inputs, back in (([x[:, dealt], *others], np.argsort(dealt)), ([x[:, dealt], *w.inputs[1:]], slice(None))):
        y = w.again(inputs=inputs)
        if y is not None and w.fits(y[:, back]):
            return f"channel c belongs to group c % {number}, not to group c // {channels // number}"
    return None


def find_swapped_channels(w: WrongTensor) -> str | None:
    """Channels that get the weight or bias of another one."""
    number, x = w.params.get("num_groups", w.params.get("groups", 1)), w.inputs[0]
    if x is None or x.ndim < 2 or not isinstance(number, int):
        return None
    count = x.shape[1]
    if not 1 < number < count or count % number:
        return None
    each, c = count // number, np.arange(count)
    for index, said in ((c % number, f"c % {number}"), (c // each, f"c // {each}"), (c % each, f"c % {each}")):
        for i, v in enumerate(w.inputs):
            if v is None or v.shape != (count,):
                continue
            if w.explained(inputs=w.with_input(i, v[index])):
                return f"channel c gets element {said} of {w.names[i]}, not element c"
    return None
