"""Right for another map from places to places: equal indices, the edge of a causal mask, heads, groups of channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.wrong import Wrong


def overwritten(w: Wrong) -> str | None:
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
            for said, once in _once(index, v.shape, w.params.get("dim", 0)):
                if w.explained(**{kind: [*tensors[:i], np.where(once, v, 0), *tensors[i + 1 :]]}):
                    return (
                        f"where {name} names one place more than once, {w.what} has the {said} term alone, not the sum"
                    )
    return None


def _once(index: Array, shape: tuple[int, ...], dim: Any) -> Iterator[tuple[str, NDArray[np.bool_]]]:
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


def causal_edge(w: Wrong) -> str | None:
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


def heads(w: Wrong) -> str | None:
    """Heads that read the keys and values of the groups in turn, not of one group after the other."""
    if not w.params.get("enable_gqa"):
        return None
    number, groups = (w.inputs[i].shape[-3] for i in (0, 1))  # type: ignore[union-attr]
    turns = np.arange(number) % groups
    inputs = [v if v is None or i not in (1, 2) else np.take(v, turns, axis=-3) for i, v in enumerate(w.inputs)]
    if number > groups > 1 and w.explained(inputs=inputs, params={**w.params, "enable_gqa": False}):
        return f"head h reads keys and values of group h % {groups}, not of group h // {number // groups}"
    return None


def groups(w: Wrong) -> str | None:
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


def channels(w: Wrong) -> str | None:
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
            if w.explained(inputs=w.inputs_with(i, v[index])):
                return f"channel c gets element {said} of {w.names[i]}, not element c"
    return None
