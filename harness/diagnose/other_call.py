"""Right for another call: without an input, with another cotangent, another operator."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.inputs import is_small
from opproof.harness.diagnose.wrong import WrongTensor
from opproof.reference_ops import Op, change_calls, load, names, operators_of


def find_ignored_cotangent(w: WrongTensor) -> str | None:
    if w.mode == "gradient" and w.explained(cotangents=[None if g is None else np.ones_like(g) for g in w.cotangents]):
        return f"the cotangent is ignored: {w.what} is that of a cotangent of ones"
    given = [i for i, g in enumerate(w.cotangents) if g is not None]
    if w.mode != "gradient" or len(given) < 2:
        return None
    for i in given:
        left = [np.zeros_like(g) if g is not None and i == j else g for j, g in enumerate(w.cotangents)]
        if w.explained(cotangents=left):
            return f"the cotangent of {w.op.outputs[i]} is ignored: {w.what} is that of zeros there"
    return None


def find_rows_left(w: WrongTensor) -> str | None:
    """Nothing is wrong but where no gradient comes in, and none is expected."""
    g = w.cotangents[0] if len(w.cotangents) == 1 else None
    if w.mode != "gradient" or g is None or g.shape != w.got.shape or not g.ndim:
        return None
    empty = np.broadcast_to((g == 0).all(-1, keepdims=True) if g.ndim > 1 else g == 0, g.shape)
    if not empty.any() or empty.all() or (w.failing & ~empty).any() or w.expected[empty].any():
        return None
    rows = "rows" if g.ndim > 1 else "elements"
    return f"only {rows} whose cotangent is 0 are wrong: a backward that skips them has to set {w.what} to 0 there"


def find_unsummed(w: WrongTensor) -> str | None:
    """Of a gradient that is a sum over axes of the cotangent, the first or last slice only."""
    g = w.cotangents[0] if len(w.cotangents) == 1 else None
    if g is None or w.got.size >= g.size:
        return None
    axes = [a for a in range(g.ndim) if g.shape[a] > 1]
    for count in range(len(axes), 0, -1):
        for chosen in combinations(axes, count):
            for end, word in ((0, "first"), (-1, "last")):
                if w.explained(cotangents=[_keep_end(g, chosen, end)]):
                    over = f"ax{'es' if count > 1 else 'is'} {', '.join(map(str, chosen))}"
                    return f"{w.what} is not summed over {over} of the cotangent: it holds the {word} slice alone"
    return None


def _keep_end(g: Array, axes: Sequence[int], end: int) -> Array:
    index = tuple(slice(end, None if end == -1 else end + 1) if a in axes else slice(None) for a in range(g.ndim))
    kept = np.zeros_like(g)
    kept[index] = g[index]
    return kept


def find_ignored_input(w: WrongTensor) -> str | None:
    """An input that is not read, whatever the call: nothing that is right, here or in another call, depends on it."""
    for i, value in _iter_unread(w):
        without = functools.partial(_replace_input, i=i, value=value)
        if w.explained(inputs=without(w)) and not w.is_refuted_by(without):
            said = f"the input {w.names[i]} is ignored" + " in the gradient" * (w.mode is Mode.GRADIENT)
            return said if value is None else f"{said}: it counts as {value:g}"
    return None


def find_input_ignored_here(w: WrongTensor) -> str | None:
    """As if an input were not read that something right depends on: in this call alone, or by chance."""
    for i, value in _iter_unread(w):
        if w.explained(inputs=_replace_input(w, i, value)):
            of = f"without {w.names[i]}" if value is None else f"of {w.names[i]} = {value:g}"
            return f"{w.what} is here that {of}, though {w.names[i]} is not ignored everywhere"
    return None


def find_derivative_elsewhere(w: WrongTensor) -> str | None:
    """A gradient at the output in place of the input, or of the input as if it were the output."""
    if w.mode is not Mode.GRADIENT or not w.numbers.any():
        return None
    for i, v in enumerate(w.inputs):
        if v is None or not (v.dtype.kind == "f" or _of_truths(v)):
            continue
        name, outputs = w.names[i], w.op.forward(*w.inputs, **w.params)
        if isinstance(outputs, np.ndarray):
            y = round_to(outputs, DTYPES[w.case.dtype])
            if y.shape == v.shape and w.explained(inputs=w.with_input(i, y)):
                return f"the derivative is taken at the output instead of at {name}"
        y = w.posed.outputs[0]
        if len(w.posed.outputs) == 1 and y.shape == v.shape and w.explained(outputs=[v]):
            return f"the derivative is taken of {name} as if it were the output"
    return None


def _iter_unread(w: WrongTensor) -> Iterator[tuple[int, float | None]]:
    """Of every input what it may count as where it is not read; None: it is not there."""
    several = sum(v is not None for v in w.inputs) > 1
    for i, v in enumerate(w.inputs) if w.numbers.any() else ():
        if v is not None and (v.dtype.kind == "f" or _of_truths(v)):
            optional = w.names[i] in w.op.optional
            yield from ((i, value) for value in ((None, 0.0, 1.0) if optional else (0.0, 1.0) if several else ()))


def _replace_input(w: WrongTensor, i: int, value: float | None) -> list[Array | None]:
    v = w.inputs[i]
    return w.with_input(i, None if v is None or value is None else np.full_like(v, value))


def _of_truths(v: Array) -> bool:
    return bool(v.dtype.kind in "iub" and v.size and v.min() >= 0 and v.max() <= 1)


def find_left_out_call(w: WrongTensor) -> str | None:
    """A graph without the calls of one operator: what such a call takes first goes on in its place."""
    for name in sorted(operators_of(w.op.name)) if w.op.expression else ():
        skipped = replace(load(name), forward=lambda x, *_, **__: x, vjp=lambda *given, **_: given[0])
        with contextlib.suppress(ValueError, TypeError):  # of shapes that the next call does not take
            if w.explained(op=change_calls(w.op, {name: skipped})):
                return f"{w.what} is that of the graph without {name}"
    return None


def find_other_operator(w: WrongTensor) -> str | None:
    """An operator with the same tensors gives exactly this; with the same parameters, or some of them and defaults.

    Of a small call: two hundred operators are tried, and tensors that are large are larger yet where they broadcast.
    """
    for op in _find_alike(w.op) if is_small(w) else ():
        params = {name: w.params.get(name, default) for name, default in op.params.items()}
        if w.explained(op=op) if _keys_of(op) == _keys_of(w.op) else w.explained(op=op, params=params):
            return f"{w.what} is that of {op.name}, not of {w.op.name}"
    return None


def _find_alike(op: Op) -> list[Op]:
    """Those of the same parameters first; truth values and bits, without a gradient, are not of a formula with one."""
    alike = [o for o in _load_all() if len(o.tensors) == len(op.tensors) and (o.vjp is None) == (op.vjp is None)]
    others = [o for o in alike if o.name != op.name and o.variadic == op.variadic and _has_all_parameters(o, op)]
    return sorted(others, key=lambda o: _keys_of(o) != _keys_of(op))


def _has_all_parameters(other: Op, op: Op) -> bool:
    """Whether every parameter of the other operator has a value here, or a default."""
    return all(n in op.params or v is not inspect.Parameter.empty for n, v in other.params.items())


@functools.cache
def _load_all() -> tuple[Op, ...]:
    return tuple(load(name) for name in names())


def _keys_of(op: Op) -> tuple[Any, ...]:
    return tuple(sorted(n for n, v in op.params.items())), op.variadic
