"""Samples of PyTorch's OpInfo through our references: what each says, and whether the two agree.

A sample is a call of PyTorch. A reader (`_readers.py`) says which call of an operator of ours it is; the values and
gradients of both are then compared, ours by NumPy, PyTorch's by its own kernels and autograd, in float64.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from opproof.core.arrays import Array
from opproof.core.tuples import tuple_of
from opproof.harness.reference.question import evaluate_forward, evaluate_vjp
from opproof.reference_ops import Op, load

TOLERANCE = 1e-9  # of an element's own size; the issue's measure, a thousand times what float64's sums need here
SMALLEST = 2.0**-1022  # below it float64 has no digits
MOST_ELEMENTS = 100_000  # of a sample's tensors: the few larger ones took two thirds of the time, and told nothing more
SEED = 50  # of every entry's samples and cotangents

AGREES = "agrees"
BY_THE_LARGEST = "agrees by the largest element"  # within TOLERANCE of it, not each of its own size
BY_A_CONVENTION = "agrees with a convention"  # one that the operator's file yields
DISAGREES = "disagrees"
NOT_EXPRESSED = "not expressed"
RAISES = "PyTorch raises"


class NotExpressed(Exception):
    """The sample is no call of the operator; the message says why."""


def unless(condition: object, why: str) -> None:
    """Raise NotExpressed where the condition holds."""
    if condition:
        raise NotExpressed(why)


class PyTorchRaises(Exception):
    """PyTorch has no gradient, or fails at it."""


@dataclass(frozen=True)
class Reading:
    """A sample as a call of an operator of ours.

    `tensors` are PyTorch's, made of the sample's by operations that autograd knows; `outputs` makes ours of what the
    sample's function gave.
    """

    op: str
    tensors: tuple[Any, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    outputs: Callable[[Any], tuple[Any, ...]] = tuple_of


Reader = Callable[[Any, Any, Any], Reading]  # of the entry's function, the sample, and what the function gave


@dataclass(frozen=True)
class Difference:
    """What the two disagree about in one array of a sample, and what holds of every element that differs.

    `part` is "values" or "gradient" and the tensor's name, `most` the largest difference relative to PyTorch's number.
    """

    part: str
    said: str
    holds: frozenset[str] = frozenset()
    most: float = math.inf


@dataclass(frozen=True)
class Outcome:
    """What came of a sample under one reader."""

    entry: str
    index: int
    dtype: str
    operator: str
    kind: str
    said: str = ""  # why it is not expressed, or what PyTorch raises
    differences: tuple[Difference, ...] = ()
    sample: str = ""

    @property
    def name(self) -> str:
        return f"{self.entry}#{self.index} ({self.dtype}, {self.operator}; {self.sample})"


@functools.cache
def entries() -> Mapping[str, Any]:
    """OpInfo's entries by name, and variant behind a slash."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {o.name + (f"/{o.variant_test_name}" if o.variant_test_name else ""): o for o in op_db}


def samples(entry: str) -> Iterator[tuple[str, int, Any]]:
    """The dtype, number and call of each sample of an entry: float64, and integers and booleans where these are all.

    The same ones every time: PyTorch draws them from generators that are seeded here.
    """
    info = entries()[entry]
    supported = info.supported_dtypes("cpu")
    floats = torch.float64 in supported
    wanted = [torch.float64] if floats else [torch.int64, torch.bool]
    if floats and torch.int64 in supported and not info.supports_autograd:
        wanted.append(torch.int64)
    for dtype in wanted:
        if dtype not in supported:
            continue
        seed(entry)
        asks = bool(info.supports_autograd and dtype.is_floating_point)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = _drawn(info, dtype, asks)
        for i, sample in enumerate(drawn):
            yield str(dtype).removeprefix("torch."), i, sample


def _drawn(info: Any, dtype: Any, asks: bool) -> list[Any]:
    """The larger set of samples, with gradients asked for where OpInfo can ask: of integers beside floats it cannot."""
    try:
        return list(info.reference_inputs("cpu", dtype, requires_grad=asks))
    except ValueError:
        return [
            *info.sample_inputs("cpu", dtype, requires_grad=asks),
            *info.reference_inputs("cpu", dtype, requires_grad=False),
        ]


def seed(entry: str) -> None:
    """Set PyTorch's, NumPy's and Python's generators."""
    del entry
    torch.manual_seed(SEED)
    random.seed(SEED)
    np.random.seed(SEED)  # noqa: NPY002 - OpInfo's own samplers draw from it


def outcomes(entry: str, readers: Sequence[Reader]) -> Iterator[Outcome]:
    """What each reader makes of each sample."""
    info = entries()[entry]
    for dtype, index, sample in samples(entry):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from _of_a_sample(entry, info, readers, dtype, index, sample)


def _of_a_sample(
    entry: str, info: Any, readers: Sequence[Reader], dtype: str, index: int, sample: Any
) -> Iterator[Outcome]:
    make = functools.partial(Outcome, entry, index, dtype)
    text = describe(sample)
    sample = _with_leaves(sample)
    torch.manual_seed(SEED + index)
    if why := _too_large(sample):
        yield make("", NOT_EXPRESSED, said=why, sample=text)
        return
    try:
        result = info.op(sample.input, *sample.args, **sample.kwargs)
    except Exception as error:
        yield make("", RAISES, said=str(error).strip().split("\n", 1)[0][:120], sample=text)
        return
    why = _not_ours(sample, result, dtype)
    for reader in readers:
        try:
            unless(why, why)
            reading = reader(info.op, sample, result)
        except NotExpressed as error:
            yield make("", NOT_EXPRESSED, said=str(error), sample=text)
            continue
        kind, said, differences = compare(reading, result, leaves_of(sample), index)
        yield make(reading.op, kind, said, tuple(differences), text)


def compare(reading: Reading, result: Any, leaves: Sequence[Any], index: int) -> tuple[str, str, list[Difference]]:
    """How the two agree, what PyTorch raises where it does, and what they disagree about."""
    op = load(reading.op)
    inputs = [None if t is None else to_numpy(t) for t in reading.tensors]
    params = _params(op, reading.params)
    outputs = reading.outputs(result)
    try:
        ours = list(evaluate_forward(op, inputs, params))
    except Exception as error:
        return DISAGREES, "", [_raised("values", error)]
    theirs = [to_numpy(y) for y in outputs]
    if len(ours) < len(theirs):
        return DISAGREES, "", [Difference("values", f"PyTorch gives {len(theirs)} outputs, ours {len(ours)}")]
    if op.settled is not None:
        theirs = list(op.settled(theirs, *inputs, **params))
    named = zip(_names(op, len(theirs)), ours, theirs, strict=False)
    found = [f for n, a, b in named for f in _compared(n, a, b, inputs)]
    apart = any(kind == DISAGREES for kind, _ in found)
    if apart and op.conventions is not None and _follows(op, inputs, params, theirs):
        found, ours = [(BY_A_CONVENTION, None)], theirs  # from which the gradient is then taken
    said = ""
    try:
        found += _gradients(op, reading, inputs, params, ours, outputs, leaves, index)
    except PyTorchRaises as error:
        found.append((RAISES, None))
        said = str(error)
    kinds = [kind for kind, _ in found]
    worst = next(k for k in (DISAGREES, RAISES, BY_A_CONVENTION, BY_THE_LARGEST, AGREES) if k in [*kinds, AGREES])
    return worst, said, [d for _, d in found if d is not None]


def _raised(part: str, error: Exception) -> Difference:
    return Difference(part, f"ours raises {type(error).__name__}: {str(error)[:100]}", frozenset({"ours raises"}))


def _gradients(
    op: Op,
    reading: Reading,
    inputs: Sequence[Any],
    params: Mapping[str, Any],
    ours: Sequence[Array],
    outputs: Sequence[Any],
    leaves: Sequence[Any],
    index: int,
) -> list[tuple[str, Difference | None]]:
    """The same of the gradients: ours are drawn back through what the reader did to the sample's tensors."""
    leaves = [x for x in leaves if x.requires_grad]
    leaves += [t for t in reading.tensors if t is not None and t.is_leaf and t.requires_grad and not _in(t, leaves)]
    asked = [i for i, y in enumerate(outputs) if y.requires_grad]
    if op.vjp is None or not asked or not leaves:
        return []
    draw = np.random.default_rng([SEED, index]).standard_normal
    gs = [np.asarray(draw(y.shape) * (i in asked)) if y.dtype.kind == "f" else None for i, y in enumerate(ours)]
    try:
        theirs = torch.autograd.grad(
            [outputs[i] for i in asked],
            leaves,
            [torch.from_numpy(np.asarray(gs[i])) for i in asked],
            allow_unused=True,
            retain_graph=True,
        )
    except (RuntimeError, NotImplementedError) as error:
        raise PyTorchRaises(str(error).split("\n", 1)[0][:120]) from error
    try:
        found = evaluate_vjp(op, inputs, params, gs, ours)
    except Exception as error:
        return [(DISAGREES, _raised("gradient", error))]
    pairs = [
        (t, torch.from_numpy(np.array(d, dtype=np.float64)))
        for t, d in zip(reading.tensors, found, strict=True)
        if t is not None and d is not None and t.requires_grad
    ]
    for t, d in pairs:
        if t.shape != d.shape:
            said = f"our gradient of a tensor of {tuple(t.shape)} has shape {tuple(d.shape)}"
            return [(DISAGREES, Difference("gradient", said))]
    drawn = _drawn_back(pairs, leaves)
    return [
        f
        for name, x, a, b in zip(_leaf_names(op, reading, leaves), leaves, drawn, theirs, strict=True)
        for f in _compared(f"gradient {name}", to_numpy(a), np.zeros(x.shape) if b is None else to_numpy(b), inputs)
    ]


def _drawn_back(pairs: Sequence[tuple[Any, Any]], leaves: Sequence[Any]) -> list[Any]:
    """The gradients of the leaves, of those of tensors that were made of them; of a leaf itself as it is.

    OpInfo makes views without a graph, which autograd takes for leaves where it stops, but not where it starts.
    """
    made = [(t, d) for t, d in pairs if not t.is_leaf]
    found: Sequence[Any] = [None] * len(leaves)
    if made:
        tensors, ds = zip(*made, strict=True)
        found = torch.autograd.grad(tensors, leaves, ds, allow_unused=True, retain_graph=True)
    return [
        sum((d for t, d in pairs if t is x), start=torch.zeros_like(x) if f is None else f)
        for x, f in zip(leaves, found, strict=True)
    ]


def _in(tensor: Any, tensors: Iterable[Any]) -> bool:
    return any(tensor is t for t in tensors)


def _leaf_names(op: Op, reading: Reading, leaves: Sequence[Any]) -> list[str]:
    names = [*op.tensors] if not op.variadic else [chr(ord("a") + i) for i in range(len(reading.tensors))]
    own = {id(t): n for n, t in zip(names, reading.tensors, strict=False)}
    return [own.get(id(x), f"argument {i}") for i, x in enumerate(leaves)]


def _names(op: Op, number: int) -> list[str]:
    return [f"values {n}" for n in op.outputs] if number <= len(op.outputs) else [f"values {i}" for i in range(number)]


def _params(op: Op, given: Mapping[str, Any]) -> dict[str, Any]:
    defaults = {n: d for n, d in op.params.items() if d is not inspect.Parameter.empty}
    return defaults | {n: tuple(v) if isinstance(v, list) else v for n, v in given.items()}


def _follows(op: Op, inputs: Sequence[Any], params: Mapping[str, Any], theirs: Sequence[Array]) -> bool:
    assert op.conventions is not None
    with np.errstate(all="ignore"):
        answers = [tuple_of(a) for a in op.conventions(*inputs, **params)]
    return any(
        all(_close(np.asarray(a), b)[0] != DISAGREES for a, b in zip(answer, theirs, strict=False))
        for answer in answers
    )


def _close(a: Array, b: Array) -> tuple[str, Any]:
    """How one array agrees with another, and where it does not."""
    if a.shape != b.shape:
        return DISAGREES, None
    if a.dtype.kind != "f" and b.dtype.kind != "f":
        off = a != b
        return (DISAGREES if off.any() else AGREES), off
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(b)
    with np.errstate(all="ignore"):
        wrong = ~finite & ~((a == b) | (np.isnan(a) & np.isnan(b)))
        size = np.abs(np.where(finite, b, 0.0))
        apart = np.where(finite, np.abs(a - np.where(finite, b, 0.0)), 0.0)
        off = wrong | ~(apart <= TOLERANCE * size + SMALLEST)
        if not off.any():
            return AGREES, off
        far = wrong | ~(apart <= TOLERANCE * np.max(size, initial=0.0))
    return (DISAGREES, off) if far.any() else (BY_THE_LARGEST, off)


def _compared(part: str, a: Array, b: Array, inputs: Sequence[Any]) -> list[tuple[str, Difference | None]]:
    """The two arrays; numbers that differ, and NaN or infinities, are differences of their own."""
    kind, off = _close(a, b)
    if kind != DISAGREES:
        return [(kind, None)]
    if off is None:
        return [(kind, Difference(part, f"PyTorch's shape is {b.shape}, ours {a.shape}", frozenset({"shapes"})))]
    finite = np.isfinite(a.astype(np.float64)) & np.isfinite(b.astype(np.float64))
    masks = [m for m in (off & finite, off & ~finite) if m.any()]
    return [(kind, _difference(part, a, b, mask, inputs)) for mask in masks]


def _difference(part: str, a: Array, b: Array, off: Any, inputs: Sequence[Any]) -> Difference:
    with np.errstate(all="ignore"):
        relative = np.abs(np.subtract(a, b, dtype=np.float64)) / np.abs(b.astype(np.float64))
    relative = np.where(off, np.where(np.isnan(relative), np.inf, relative), -1.0)
    at = np.unravel_index(int(np.argmax(relative)), relative.shape)
    said = (
        f"at {tuple(map(int, at))} PyTorch has {b[at].item()!r}, ours {a[at].item()!r} ({int(off.sum())} of {a.size})"
    )
    return Difference(part, said, _holds(a, b, off, inputs), float(relative[at]))


def _holds(a: Array, b: Array, off: Any, inputs: Sequence[Any]) -> frozenset[str]:
    """What is true of every element that differs."""
    alike = [x for x in inputs if x is not None and x.shape == off.shape]
    ill = np.zeros(off.shape, dtype=bool)
    for x in alike:
        ill |= ~np.isfinite(x)
    equal = alike[0] == alike[1] if len(alike) > 1 else np.zeros(off.shape, dtype=bool)
    zero = np.zeros(off.shape, dtype=bool)
    for x in alike:
        zero |= x == 0
    with np.errstate(all="ignore"):
        quotient = alike[0] / alike[1] if len(alike) > 1 else np.full(off.shape, 0.5)
        whole = quotient == np.rint(quotient)
    facts = {
        "all": np.ones(off.shape, dtype=bool),
        "the quotient is rounded": whole,
        "an input is not finite": ill,
        "an input is zero": zero,
        "inputs are equal": equal,
        "ours is NaN": np.isnan(a.astype(np.float64)),
        "PyTorch's is NaN": np.isnan(b.astype(np.float64)),
        "ours is infinite": np.isinf(a.astype(np.float64)),
        "ours is zero": a == 0,
        "PyTorch's is zero": b == 0,
    }
    return frozenset(name for name, mask in facts.items() if mask[off].all())


def to_numpy(tensor: Any) -> Array:
    array: Array = np.array((tensor.float() if tensor.dtype == torch.bfloat16 else tensor).detach().numpy(force=True))
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _with_leaves(sample: Any) -> Any:
    """The sample with a leaf for each tensor that asks for a gradient, strides as they were.

    Those that are not contiguous are views that OpInfo made without a graph: autograd gives zeros for them.
    """
    known: dict[int, Any] = {}

    def leaf(v: Any) -> Any:
        if isinstance(v, torch.Tensor) and v.requires_grad and v.dtype.is_floating_point:
            return known.setdefault(id(v), v.detach().requires_grad_())
        if type(v) in (list, tuple):
            return type(v)(map(leaf, v))
        return v

    made = copy.copy(sample)
    made.input, made.args = leaf(sample.input), tuple(map(leaf, sample.args))
    made.kwargs = {n: leaf(v) for n, v in sample.kwargs.items()}
    return made


def leaves_of(value: Any) -> list[Any]:
    """The tensors of a sample that its gradients are asked of."""
    found: list[Any] = []
    stack = [value.input, *value.args, *value.kwargs.values()]
    while stack:
        v = stack.pop(0)
        if isinstance(v, torch.Tensor) and v.requires_grad and not _in(v, found):
            found.append(v)
        elif isinstance(v, list | tuple):
            stack = [*v, *stack]
    return found


def _too_large(sample: Any) -> str:
    elements = sum(v.numel() for v in _values(sample) if isinstance(v, torch.Tensor))
    return f"more than {MOST_ELEMENTS:,} elements" if elements > MOST_ELEMENTS else ""


def _not_ours(sample: Any, result: Any, dtype: str) -> str:
    """Why no operator of ours computes it, whatever the arguments; empty where one may."""
    values = [v for v in _values(sample) if isinstance(v, torch.Tensor)]
    if any(v.is_complex() for v in values) or any(isinstance(v, complex) for v in _values(sample)):
        return "complex numbers"
    if dtype == "float64":
        mixed = any(v.is_floating_point() and v.dtype != torch.float64 for v in values)
        return "dtypes that are promoted" if mixed else ""
    results = [y for y in tuple_of(result) if isinstance(y, torch.Tensor)]
    return "integers, computed in float32" if any(y.dtype == torch.float32 for y in results) else ""


def _values(sample: Any) -> list[Any]:
    given = (sample.input, *sample.args, *sample.kwargs.values())
    return [v for a in given for v in (a if isinstance(a, list | tuple) else [a])]


def describe(sample: Any) -> str:
    """The sample's arguments, tensors by shape, in few words."""

    def said(v: Any) -> str:
        if isinstance(v, torch.Tensor):
            return "x".join(map(str, v.shape)) or "()"
        if isinstance(v, list | tuple):
            return f"[{', '.join(map(said, v))}]"
        return repr(v)

    words = [said(sample.input), *map(said, sample.args), *(f"{k}={said(v)}" for k, v in sample.kwargs.items())]
    return ", ".join(words)[:160]


def count(found: Iterable[Outcome]) -> Counter[str]:
    return Counter(o.kind for o in found)
