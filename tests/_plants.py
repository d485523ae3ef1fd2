"""What planted defects do: functions from a call to its wrong results."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.backends.numpy import create
from opproof.core.dtypes import DTYPES, round_to
from opproof.reference_ops import load


@dataclass(frozen=True)
class Call:
    """One call to the backend; `run` gives its right results, with something changed where told."""

    op: str
    inputs: list
    params: dict
    cotangents: list | None = None
    needs: list | None = None

    def run(self, **changes: Any) -> list:
        c = replace(self, **changes)
        if c.cotangents is None:
            return create().forward(c.op, c.inputs, c.params)
        return create().vjp(c.op, c.inputs, c.params, c.cotangents, c.needs)


def after(change: Callable[[np.ndarray], np.ndarray], op: str = "") -> Callable[[Call], list]:
    """Every result, changed; of one operator, where it is named."""

    def plant(call: Call) -> list:
        if op not in ("", call.op):
            return call.run()
        return [y if y is None else np.ascontiguousarray(change(y.copy()).astype(y.dtype)) for y in call.run()]

    return plant


def same_shape(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Call], list]:
    """Every result of the shape of the first input, changed in its sight."""

    def plant(call: Call) -> list:
        x = call.inputs[0]
        return [
            y if y is None or y.shape != x.shape else change(y.copy(), x.astype(np.float64)).astype(y.dtype)
            for y in call.run()
        ]

    return plant


def inputs(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Call], list]:
    """Every float input and cotangent, changed."""

    def floats(vs):
        return [v if v is None or v.dtype.kind == "i" else change(v).astype(v.dtype) for v in vs]

    def plant(call: Call) -> list:
        gs = None if call.cotangents is None else floats(call.cotangents)
        return call.run(inputs=floats(call.inputs), cotangents=gs)

    return plant


def assigned(index: Any, value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(y):
        y[index(y) if callable(index) else index] = value
        return y

    return change


def set_where(mask: Callable, value: Callable) -> Callable:
    return lambda y, x: np.where(mask(x), value(y.astype(np.float64), x), y.astype(np.float64))


def tail(width: int, value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(y):
        if y.ndim:
            y[..., y.shape[-1] - y.shape[-1] % width :] = value
        return y

    return change


def flat_tail(width: int, factor: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(y):
        flat = y.reshape(-1)
        flat[y.size - y.size % width :] *= y.dtype.type(factor)
        return y

    return change


def first_row_everywhere(y):
    if y.ndim > 1:
        y[1:] = y[:1]
    return y


def rows_scaled(index):
    def change(y):
        if y.ndim:
            y[index] = y[index] * y.dtype.type(1.5)
        return y

    return change


def truncated_tf32(v):
    bits = np.ascontiguousarray(v).astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return bits.view(np.float32).reshape(v.shape)


def rounded(name):
    return lambda v: round_to(np.asarray(v, dtype=np.float64), DTYPES[name])


def in_f16(call: Call) -> list:
    """The whole formula in f16."""
    low = [v if v is None or v.dtype.kind == "i" else v.astype(np.float16) for v in call.inputs]
    op = load(call.op)
    outputs = op.forward(*low, **call.params)
    if call.cotangents is not None:
        outputs = op.vjp(call.cotangents[0].astype(np.float16), outputs, *low, **call.params)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    kind = call.run()
    return [None if k is None else np.asarray(y).astype(k.dtype) for y, k in zip(outputs, kind, strict=False)]


def summed_in_steps(call: Call) -> list:
    """Sums of which every partial one is stored in the dtype."""
    (y,) = call.run()
    stored = rounded({"float16": "f16", "bfloat16": "bf16"}[y.dtype.name])
    x = call.inputs[0].astype(np.float64)
    if call.op in ("matmul", "bmm"):
        a, b = x, call.inputs[1].astype(np.float64)
        if a.ndim < 2 or b.ndim < 2:
            return [y]
        terms = [a[..., :, k, None] * b[..., None, k, :] for k in range(a.shape[-1])]
    else:
        dim = call.params["dim"]
        axes = tuple(range(x.ndim)) if dim is None else (dim if isinstance(dim, tuple) else (dim,))
        rows = np.moveaxis(x, axes, range(-len(axes), 0)).reshape(y.size, -1)
        terms = list(rows.T)
    total = np.zeros_like(terms[0])
    for term in terms:
        total = stored(total + term)
    return [(total / len(terms) if call.op == "mean" else total).reshape(y.shape).astype(y.dtype)]


def in_steps(call: Call) -> list:
    """The formula, of which every step is stored in the dtype."""
    (y,) = call.run()
    r = rounded({"float16": "f16", "bfloat16": "bf16"}[y.dtype.name])
    x = call.inputs[0].astype(np.float64)
    if call.op == "silu":
        found = x * r(1 / r(1 + r(np.exp(-x))))
    elif call.op == "softplus":
        beta = call.params["beta"]
        found = r(np.log1p(r(np.exp(r(beta * x))))) / beta
        found = np.where(beta * x > call.params["threshold"], x, found)
    elif call.op == "rms_norm":
        found = r(x / r(np.sqrt(r(r(np.mean(r(x * x), axis=-1, keepdims=True)) + call.params["eps"]))))
        found = found if call.inputs[1] is None else found * call.inputs[1]
    else:
        dim = call.params["dim"]
        most = x.max(axis=dim, keepdims=True)
        most = most if call.op == "softmax" else np.where(np.isfinite(most), most, 0)
        e = r(np.exp(r(x - most)))
        total = r(e.sum(axis=dim, keepdims=True))
        found = e / total if call.op == "softmax" else r(np.log(total)) + most
    return [found.reshape(y.shape).astype(y.dtype)]


def scattered(y):
    """One element in ten is another number."""
    rng = np.random.default_rng(zlib.crc32(y.tobytes()))
    return np.where(rng.random(y.shape) < 0.1, rng.standard_normal(y.shape) * 3, y)


def noisy(y):
    """Every element is off by about a fifth."""
    return y * (1 + 0.2 * np.random.default_rng(zlib.crc32(y.tobytes())).standard_normal(y.shape))


def swap(i: int, j: int) -> Callable[[Call], list]:
    def plant(call):
        moved = list(call.inputs)
        moved[i], moved[j] = moved[j], moved[i]
        return call.run(inputs=moved)

    return plant


def swap_params(call):
    changed = {n: v[::-1] if isinstance(v, tuple) else v for n, v in call.params.items()}
    if call.op in ("clamp", "threshold"):
        a, b = list(changed)
        changed[a], changed[b] = changed[b], changed[a]
    return call.run(params=changed)


def defaults(call):
    op = load(call.op)
    given = {n: v for n, v in call.params.items() if op.params[n] is not v and not isinstance(op.params[n], type)}
    name = min(given)
    return call.run(params={**call.params, name: op.params[name]})


def no_eps(call):
    return call.run(params={**call.params, "eps": 0.0})


def eps_outside(call):
    """(x - mean) / (std + eps)."""
    x, eps = call.inputs[0].astype(np.float64), call.params["eps"]
    axis = tuple(range(-len(call.params["normalized_shape"]), 0))
    variance = np.var(x, axis=axis, keepdims=True)
    wrong = (np.sqrt(variance + eps)) / (np.sqrt(variance) + eps)
    return [(y * wrong).astype(y.dtype) for y in call.run()]


def one_key_more(call):
    """An attention whose causal mask lets each query see one key more."""
    q, k = (v.shape[-2] for v in call.inputs[:2])
    keep = np.tri(q, k, 1, dtype=np.int64)
    given = [*call.inputs, *[None] * (6 - len(call.inputs))]
    given[4] = keep if given[4] is None else keep * (given[4] != 0)
    return call.run(inputs=given, params={**call.params, "is_causal": False})


def groups_in_turn(call):
    """Heads read groups in turn; channels are dealt to groups in turn."""
    x, *rest = call.inputs
    if call.op != "group_norm":
        turns = np.arange(x.shape[-3]) % rest[0].shape[-3]
        return call.run(
            inputs=[x, *(v[..., turns, :, :] for v in rest[:2]), *rest[2:]],
            params={**call.params, "enable_gqa": False},
        )
    dealt = np.arange(x.shape[1]).reshape(-1, call.params["num_groups"]).T.reshape(-1)
    (y,) = call.run(inputs=[x[:, dealt], *(None if v is None else v[dealt] for v in rest)])
    return [y[:, np.argsort(dealt)]]


def overwritten(call):
    """Gradients of looked-up rows hold what was added last, not the sum."""
    if call.op == "embedding":
        weight, index = call.inputs[:2]
        made = np.zeros_like(weight)
        made[index.reshape(-1)] = call.cotangents[0].reshape(-1, weight.shape[-1])
        return [made, *call.run()[1:]]
    x, index = call.inputs
    made = np.moveaxis(np.zeros_like(x), call.params["dim"], 0)
    made[index] = np.moveaxis(call.cotangents[0], call.params["dim"], 0)
    return [np.ascontiguousarray(np.moveaxis(made, 0, call.params["dim"])), None]


def of_samples(call):
    """layer_norm by a variance of n - 1."""
    axis = tuple(range(-len(call.params["normalized_shape"]), 0))
    x, *affine = [None if v is None else v.astype(np.float64) for v in call.inputs]
    mean, variance = x.mean(axis, keepdims=True), x.var(axis=axis, keepdims=True, ddof=1)
    y = (x - mean) / np.sqrt(variance + call.params["eps"])
    for v, apply in zip(affine, (np.multiply, np.add), strict=False):
        y = y if v is None else apply(y, v)
    return [y.astype(call.inputs[0].dtype)]


def statistic_held(call):
    """Gradients of norms and softmax that take the row's norm, mean and variance, or sum, for constants."""
    dx, *rest = call.run()
    if dx is None:
        return [dx, *rest]
    x, g = (v.astype(np.float64) for v in (call.inputs[0], call.cotangents[0]))
    if call.op in ("softmax", "log_softmax"):
        e = np.exp(x - x.max(axis=call.params["dim"], keepdims=True))
        held = g * (e / e.sum(axis=call.params["dim"], keepdims=True) if call.op == "softmax" else 1)
    else:
        weight = call.inputs[1] if len(call.inputs) > 1 else None
        axis = -1 if call.op == "rms_norm" else tuple(range(-len(call.params["normalized_shape"]), 0))
        square = np.square(x).mean(axis, keepdims=True) if call.op == "rms_norm" else x.var(axis=axis, keepdims=True)
        held = g * (1 if weight is None else weight.astype(np.float64)) / np.sqrt(square + call.params["eps"])
    return [held.astype(dx.dtype), *rest]


def last_left_out(call):
    """softmax and log_softmax whose sum lacks the last exponential."""
    x, dim = call.inputs[0].astype(np.float64), call.params["dim"]
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    total = e.sum(axis=dim, keepdims=True)
    short = total - np.take(e, [-1], axis=dim)
    return [
        (y * (total / short) if call.op == "softmax" else y + np.log(total / short)).astype(y.dtype) for y in call.run()
    ]


def other_axis(call):
    rank, dim = call.inputs[0].ndim, call.params["dim"]
    return call.run(params={**call.params, "dim": (dim + 1) % rank})


def other_choice(call):
    choices = {
        "approximate": ("none", "tanh"),
        "reduction": ("sum", "mean"),
        "correction": (0, 1),
        "upper": (True, False),
    }
    name = next(n for n in choices if n in call.params)
    a, b = choices[name]
    return call.run(params={**call.params, name: b if call.params[name] == a else a})


def ones(call):
    return call.run(cotangents=[np.ones_like(g) for g in call.cotangents])


def unsummed(end):
    """Gradients of expanded tensors, of which one slice is kept."""

    def plant(call):
        right = call.run()
        shape = np.broadcast_shapes(*(v.shape for v in call.inputs))
        full = call.run(inputs=[np.broadcast_to(v, shape) for v in call.inputs])
        found = []
        for y, wide in zip(right, full, strict=True):
            if y is not None and y.shape != shape:
                lead = len(shape) - y.ndim
                index = tuple(end if a < lead else slice(None) for a in range(len(shape)))
                kept = wide[index]
                for a in range(y.ndim):
                    if y.shape[a] == 1 and kept.shape[a] != 1:
                        kept = np.take(kept, [end], axis=a)
                found.append(np.ascontiguousarray(kept))
            else:
                found.append(y)
        return found

    return plant


def as_contiguous(call):
    def read(v):
        if v is None or v.dtype.kind == "i" or v.flags.c_contiguous:
            return v
        item = v.dtype.itemsize
        strides = [item * int(np.prod(v.shape[a + 1 :])) for a in range(v.ndim)]
        return np.lib.stride_tricks.as_strided(v, v.shape, strides)

    return call.run(inputs=[read(v) for v in call.inputs])


def from_start(call):
    """One element early, where poison shows that the storage begins there."""

    def read(v):
        if v is None or v.dtype.kind == "i" or v.size == 0:
            return v
        start = v.__array_interface__["data"][0] - v.base.__array_interface__["data"][0] - v.dtype.itemsize
        early = np.ndarray(v.shape, v.dtype, v.base, start, v.strides)
        return early if np.isnan(early.flat[0]) else v

    return call.run(inputs=[read(v) for v in call.inputs])


def no_max(call):
    x = call.inputs[0].astype(np.float32)
    axis = call.params.get("dim", 1)
    s = np.sum(np.exp(x), axis=axis, keepdims=True)
    if call.op == "logsumexp":
        y = np.log(s if call.params["keepdim"] else np.squeeze(s, axis=axis))
    else:
        y = np.exp(x) / s if call.op == "softmax" else np.log(np.exp(x) / s)
    return [np.asarray(y).astype(call.inputs[0].dtype)]


SIBLINGS = {
    "silu": "gelu_quick", "gelu_quick": "silu", "floor": "trunc", "round": "floor", "trunc": "round", "ceil": "floor",
    "fmod": "remainder", "remainder": "fmod", "amax": "amin", "argmax": "argmin", "maximum": "minimum", "elu": "celu",
    "log2": "log", "exp2": "exp", "tanh": "softsign", "gt": "ge", "le": "lt", "sin": "tan", "log1p": "log",
    "hardswish": "silu", "relu": "relu6", "logical_and": "logical_or", "sinh": "sin", "cosh": "cos", "mish": "silu",
    "std": "var",
}  # fmt: skip


def sibling(call):
    return [np.asarray(y) for y in call.run(op=SIBLINGS[call.op])]


def last_dropped(call):
    """The last column of the first input does not enter."""
    x = call.inputs[0].copy()
    x[..., -1] = 0
    return call.run(inputs=[x, *call.inputs[1:]])


def rest_dropped(call):
    """What a loop over blocks of eight leaves out of the inner axis."""
    x = call.inputs[0].copy()
    x[..., x.shape[-1] - x.shape[-1] % 8 :] = 0
    return call.run(inputs=[x, *call.inputs[1:]])


def filled(value):
    """`fill` with another value."""
    return lambda call: call.run(params={**call.params, "value": value}) if call.op == "fill" else call.run()


def last_input_true(call):
    return call.run(inputs=[*call.inputs[:-1], np.ones_like(call.inputs[-1])])


def last_input_missing(call):
    return [*call.run(inputs=[*call.inputs[:-1], None])][: len(call.inputs)]


def copied(call):
    if call.cotangents is not None:
        return [call.cotangents[0].copy() for _ in call.run()]
    return [call.inputs[0].copy()]


def at_output(call):
    y = call.run(cotangents=None)[0]
    return call.run(inputs=[y, *call.inputs[1:]])


def gradients_swapped(call):
    found = call.run()
    return [found[1], found[0], *found[2:]]


def kink_wrong(call):
    """Gradients at kinks are doubled and one more."""
    x = call.inputs[0].astype(np.float64)
    at = np.asarray(load(call.op).kinks(*[v.astype(np.float64) for v in call.inputs], **call.params)) == 0
    found = call.run()
    first = np.where(np.broadcast_to(at, x.shape), 2 * np.abs(found[0]) + 1, found[0]).astype(found[0].dtype)
    return [first, *found[1:]]


def one_and_away(call):
    """Every result with 1 added in float32 (float64, where it is), and taken away again."""

    def change(y):
        wide = y.astype(np.promote_types(y.dtype, np.float32))
        return (wide + 1) - 1

    return after(change)(call)
