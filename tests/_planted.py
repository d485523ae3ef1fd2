"""Labelled defects, planted in the numpy backend at cases drawn from the registry.

A defect is a function from a call to its wrong results. It says which labels of the diagnosis are
right for it: several, where in some cases they are the same thing (a factor 1/n is what a mean
for a sum is). Cases are drawn by a hash of the defect's name, so nobody chose them.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.backends.numpy import create
from opproof.cases import Case, cases_of
from opproof.cases._dtypes import DTYPES, round_to
from opproof.cases._layouts import layouts_of
from opproof.harness.diagnose import explain
from opproof.harness.execute import execute
from opproof.harness.judge import Rules, judge
from opproof.reference_ops import load, names

LARGEST = 6000  # elements of all tensors of a case


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


@dataclass(frozen=True)
class Defect:
    name: str
    labels: tuple[str, ...]
    plant: Callable[[Call], list]
    mode: str = ""  # either
    dtypes: tuple[str, ...] = ()  # any
    ops: tuple[str, ...] = ()  # any
    applies: Callable[[Case], bool] = lambda case: True


class Planted:
    """The numpy backend with one defect."""

    name = "planted"

    def __init__(self, defect: Defect) -> None:
        self.defect = defect
        self.first: dict = {}

    def forward(self, op, inputs, params):
        return self._answer(Call(op, list(inputs), dict(params)))

    def vjp(self, op, inputs, params, cotangents, needs):
        return self._answer(Call(op, list(inputs), dict(params), list(cotangents), list(needs)))

    def _answer(self, call):
        with np.errstate(all="ignore"):
            found = self.defect.plant(call)
            if self.defect.name == "half from first call":
                key = tuple(y.shape for y in found if y is not None)
                first = self.first.setdefault(key, [None if y is None else y.copy() for y in found])
                for y, old in zip(found, first, strict=True):
                    if y is not None:
                        y.reshape(-1)[y.size // 2 :] = old.reshape(-1)[y.size // 2 :]
        return found


def after(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Call], list]:
    """Every result, changed."""

    def plant(call: Call) -> list:
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
    name = sorted(given)[0]
    return call.run(params={**call.params, name: op.params[name]})


def no_eps(call):
    return call.run(params={**call.params, "eps": 0.0})


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
                y = np.ascontiguousarray(kept)
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
    "log2": "log", "exp2": "exp", "tanh": "softsign", "gt": "ge", "le": "lt", "sin": "tan", "log1p": "log", "std": "var",
    "hardswish": "silu", "relu": "relu6", "logical_and": "logical_or", "sinh": "sin", "cosh": "cos", "mish": "silu",
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


def _rank(least: int) -> Callable[[Case], bool]:
    return lambda case: all(len(s) >= least and s[-1] > 4 and s[0] > 1 for s in case.shapes.values())


def _plain(case: Case) -> bool:
    return case.fill in ("normal", "wide", "offset", "positive", "negative")


def _is_plain(op: str) -> bool:
    return op not in ("where", "masked_fill")


def _non_default(case: Case) -> bool:
    return any(not isinstance(load(case.op).params[n], type) and load(case.op).params[n] != v for n, v in case.params)


def _laid(*wanted: str) -> Callable[[Case], bool]:
    return lambda case: any(layout in wanted for layout in layouts_of(case).values())


UNARY = ("exp", "sigmoid", "tanh", "gelu", "silu", "softplus", "sin", "cos", "square", "erf", "mish", "atan", "log1p",
         "expm1", "relu", "leaky_relu", "elu", "selu", "celu", "hardswish", "softsign", "sinh", "rsqrt", "sqrt")  # fmt: skip
BINARY = ("add", "sub", "mul", "div", "lerp", "atan2", "maximum", "pow")
REDUCE = ("sum", "mean", "logsumexp", "norm", "var", "std", "amax", "prod")
CONTRACT = ("matmul", "bmm", "linear", "dot", "conv2d", "conv1d", "outer_product", "sum", "mean")
NORMS = ("layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm", "l2_norm")
KINKED = ("relu", "leaky_relu", "elu", "hardtanh", "hardswish", "relu6", "clamp", "amax", "amin", "hardshrink",
          "softshrink", "abs", "threshold", "maximum", "minimum", "prelu")  # fmt: skip
F32, F16 = ("f32",), ("f16", "bf16")

DEFECTS = [
    Defect("doubled", ("factor",), after(lambda y: y * 2)),
    Defect("halved", ("factor",), after(lambda y: y * 0.5)),
    Defect("times 1.37", ("factor",), after(lambda y: y * 1.37)),
    Defect("over n", ("factor", "other parameter", "zeros"), after(lambda y: y / max(y.shape[-1] if y.ndim else 3, 2)), dtypes=("f32", "f16")),
    Defect("negated", ("sign",), after(lambda y: -y)),
    Defect("absolute value", ("sign", "half"), after(np.abs), mode="gradient"),
    Defect("zeros", ("zeros",), after(np.zeros_like)),
    Defect("plus a half", ("constant added",), after(lambda y: y + 0.5), applies=_plain),
    Defect("copied", ("copy",), copied, ops=UNARY, mode="forward"),
    Defect("cotangent copied", ("copy",), copied, ops=UNARY, mode="gradient"),
    Defect("transposed", ("transposed", "stride ignored"), after(lambda y: np.swapaxes(y, -1, -2).reshape(y.shape)), applies=_rank(2), ops=UNARY + ("matmul", "softmax")),
    Defect("rolled", ("off by one",), after(lambda y: np.roll(y, 1, -1)), applies=_rank(1), ops=UNARY + NORMS + ("softmax", "cumsum")),
    Defect("rolled rows", ("off by one", "reversed"), after(lambda y: np.roll(y, -1, 0)), applies=_rank(2), ops=UNARY + NORMS + ("softmax", "cumsum")),
    Defect("off by one in memory", ("off by one",), after(lambda y: np.roll(y.reshape(-1), 1).reshape(y.shape)), applies=_rank(2), ops=UNARY),
    Defect("tail of 8 zero", ("tail", "last", "zeros"), after(tail(8, 0)), applies=_rank(1)),
    Defect("tail of 32 garbage", ("tail", "last", "constant"), after(tail(32, 7.25)), applies=_rank(1)),
    Defect("tail of 16 in memory", ("tail", "last"), after(flat_tail(16, -3)), applies=lambda c: _rank(1)(c) and all(np.prod(s) > 16 for s in c.shapes.values()), ops=UNARY + BINARY),
    Defect("first row everywhere", ("beyond first", "last"), after(first_row_everywhere), applies=_rank(2), ops=UNARY + NORMS),
    Defect("last row wrong", ("last", "tail", "beyond first"), after(rows_scaled(-1)), applies=_rank(2)),
    Defect("first row wrong", ("first",), after(rows_scaled(0)), applies=_rank(2)),
    Defect("NaN at |x| > 3", ("large", "overflow", "special", "constant"), same_shape(set_where(lambda x: np.abs(x) > 3, lambda y, x: np.nan * y)), ops=UNARY),
    Defect("wrong at |x| > 2", ("large",), same_shape(set_where(lambda x: np.abs(x) > 2, lambda y, x: 1.3 * y + 1)), ops=UNARY),
    Defect("wrong at x > 1.5", ("large",), same_shape(set_where(lambda x: x > 1.5, lambda y, x: y - 2)), ops=UNARY),
    Defect("wrong at negatives", ("half", "large"), same_shape(set_where(lambda x: x < 0, lambda y, x: 0.7 * y + 1)), ops=UNARY),
    Defect("wrong at kinks", ("kinks",), kink_wrong, mode="gradient", ops=KINKED, applies=lambda c: c.fill in ("kink", "ties", "zeros", "halves")),
    Defect("one at zero", ("kinks",), same_shape(set_where(lambda x: x == 0, lambda y, x: y + 1)), ops=("sign", "step", "abs", "relu", "gelu", "sin"), mode="forward"),
    Defect("bf16 inputs", ("precision",), inputs(rounded("bf16")), dtypes=F32),
    Defect("f16 inputs", ("precision",), inputs(rounded("f16")), dtypes=F32),
    Defect("tf32 inputs", ("precision",), inputs(truncated_tf32), dtypes=F32, ops=CONTRACT + UNARY),
    Defect("bf16 result", ("precision",), after(rounded("bf16")), dtypes=F32),
    Defect("f16 result", ("precision",), after(rounded("f16")), dtypes=F32),
    Defect("f16 arithmetic", ("precision",), in_f16, dtypes=("f32", "f16"), ops=CONTRACT + UNARY + NORMS + REDUCE + ("softmax",)),
    Defect("inputs swapped", ("swapped inputs", "sign"), swap(0, 1), ops=("sub", "div", "atan2", "pow", "matmul", "gt", "le", "fmod"), applies=lambda c: c.shapes["a"] == c.shapes.get("b")),
    Defect("gradients swapped", ("swapped inputs", "sign"), gradients_swapped, mode="gradient", ops=("mul", "div", "atan2", "matmul", "sub"), applies=lambda c: c.shapes["a"] == c.shapes["b"] and c.needs is None),
    Defect("parameters swapped", ("swapped parameters", "zeros", "constant", "copy"), swap_params, ops=("clamp", "threshold", "conv2d", "im2col", "conv1d", "pad")),
    Defect("default instead", ("parameter ignored", "wrong axis", "factor", "zeros"), defaults, applies=_non_default),
    Defect("no eps", ("parameter ignored",), no_eps, ops=NORMS),
    Defect("other axis", ("wrong axis",), other_axis, ops=("softmax", "log_softmax", "cumsum", "cumprod", "l2_norm", "argmax"), applies=lambda c: isinstance(c.kwargs.get("dim"), int)),
    Defect("other choice", ("other parameter", "parameter ignored", "factor", "copy"), other_choice, ops=("gelu", "cross_entropy", "var", "std", "solve_triangular")),
    Defect("cotangent of ones", ("cotangent ignored",), ones, mode="gradient"),
    Defect("first slice", ("not summed", "zeros"), unsummed(0), mode="gradient", ops=BINARY),
    Defect("last slice", ("not summed", "zeros"), unsummed(-1), mode="gradient", ops=BINARY),
    Defect("half from first call", ("stale",), lambda call: [None if y is None else np.array(y) for y in call.run()], ops=UNARY + NORMS + CONTRACT),
    Defect("strides ignored", ("stride ignored", "transposed"), as_contiguous, applies=_laid("transposed", "permuted", "sliced", "gapped")),
    Defect("offset ignored", ("offset ignored",), from_start, applies=_laid("offset")),
    Defect("no maximum subtracted", ("overflow", "large", "constant"), no_max, mode="forward", dtypes=F32 + F16, ops=("softmax", "log_softmax", "logsumexp")),
    Defect("sibling", ("other operator", "sign", "parameter ignored", "other parameter", "copy", "factor", "kinks"), sibling, ops=tuple(SIBLINGS)),
    Defect("last term dropped", ("terms dropped", "tail", "last", "zeros"), last_dropped, mode="forward", ops=(*CONTRACT, "logsumexp", "norm")),
    Defect("rest past 8 dropped", ("terms dropped", "tail", "last", "zeros"), rest_dropped, mode="forward", ops=(*CONTRACT, "norm"), applies=lambda c: c.tensors[0][1][-1:] > (8,)),
    Defect("last input ignored", ("input ignored",), last_input_missing, mode="forward", ops=(*NORMS, "linear", "conv2d", "conv1d"), applies=lambda c: "weight" in c.shapes),
    Defect("derivative at the output", ("input ignored",), at_output, mode="gradient", ops=UNARY),
]  # fmt: skip


@dataclass(frozen=True)
class Finding:
    defect: Defect
    case: str
    mode: str
    label: str
    sentence: str

    @property
    def right(self) -> bool:
        return self.label in self.defect.labels

    @property
    def silent(self) -> bool:
        return not self.label


def drawn(defect: Defect) -> Iterator[tuple[Case, str]]:
    """Cases and modes in which the defect can show, in an order that its name decides."""
    found = []
    for name in defect.ops or names():
        op = load(name)
        for case in cases_of(name):
            size = sum(int(np.prod(s)) for s in case.shapes.values())
            if not 0 < size <= LARGEST or (defect.dtypes and case.dtype not in defect.dtypes):
                continue
            if not all(0 not in s for s in case.shapes.values()) or not defect.applies(case):
                continue
            modes = [m for m in ("forward", "gradient") if m == "forward" or (op.vjp and case.fill != "special")]
            found += [(case, m) for m in modes if defect.mode in ("", m)]
    # one case of an operator before the second of another
    found.sort(key=lambda f: hashlib.blake2b(f"{defect.name}|{f[0]}|{f[1]}".encode()).digest())
    seen: dict[str, int] = {}
    turns = []
    for case, mode in found:
        seen[case.op] = seen.get(case.op, 0) + 1
        turns.append((seen[case.op], len(turns), case, mode))
    yield from ((case, mode) for _, _, case, mode in sorted(turns, key=lambda t: t[:2]))


def findings(defect: Defect, count: int) -> Iterator[Finding]:
    """`count` cases in which the defect shows as wrong numbers, and what the diagnosis says of each."""
    tries = 0
    for case, mode in drawn(defect):
        if count == 0 or tries > 8 * count + 20:
            return
        tries += 1
        op = load(case.op)
        outcome = execute(Planted(defect), case, op, mode)
        if outcome.verdict:
            continue
        found = judge(case, op, mode, outcome, Rules())
        if found.verdict not in ("WRONG_VALUE", "WRONG_GRADIENT"):
            continue
        count -= 1
        yield Finding(defect, str(case), mode, *explain(case, op, mode, outcome, found))
