"""A tape as graphs: the whole of it, and the neighbourhoods that libraries fuse, each with its data.

A neighbourhood holds calls joined by results that one call alone takes. What moves elements, a view or a copy, becomes
the operator that moves them so: it is found by what comes of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opproof.core.arrays import is_number
from opproof.core.errors import OpError
from opproof.core.graph import PREFIX, Edge
from opproof.reference_ops._graphs import load_graph
from opproof.reference_ops._tape import Replay, Source, Tape, TapedCall, find_leaves
from opproof.reference_ops._torch_calls import DTYPE_NAMES, OperatorCall

#: Operators that a neighbourhood has: what libraries fuse is shorter.
_MAX_NEIGHBOURS = 8
#: Axes up to which every order of them is tried.
_MAX_ORDERED_AXES = 5


class NotExpressible(Exception):
    """A call that the language of graphs does not express; its text is the reason."""


@dataclass(frozen=True)
class TapedGraph:
    """A graph by its name, its dtype, and the tensors that it was called with, in the order of its operands."""

    text: str
    dtype: str
    tensors: Mapping[str, Any]


@dataclass(frozen=True)
class _Made:
    """A call as it was made again: its tensors, and how a graph writes each of its outputs."""

    call: TapedCall
    operands: Sequence[Any]
    outputs: Sequence[Any]
    made: OperatorCall | None


def express_whole(tape: Tape) -> TapedGraph:
    """The tape as one graph. Raises NotExpressible."""
    return _express(_replay(tape), tape.results)


def express_neighbourhoods(tape: Tape) -> Iterator[TapedGraph]:
    """The neighbourhoods of two operators or more that the language of graphs expresses, with their tensors."""
    calls = _replay(tape)
    users: dict[Edge, set[int]] = {}
    for number, made in enumerate(calls):
        for source in made.call.sources:
            if isinstance(source, tuple):
                users.setdefault(source, set()).add(number)
    group = {number: number for number in range(len(calls))}  # by the last call of it
    sizes = [int(made.made is not None) for made in calls]
    for number in reversed(range(len(calls))):
        takers = set().union(*(users.get((number, i), set()) for i in range(len(calls[number].outputs))))
        if len(takers) == 1 and not any(edge[0] == number for edge in tape.results):
            last = group[takers.pop()]
            if sizes[last] + sizes[number] <= _MAX_NEIGHBOURS:
                group[number] = last
                sizes[last] += sizes[number] if last != number else 0
    for last in sorted({g for g in group.values() if sizes[g] > 1}):
        inside = {number for number, g in group.items() if g == last}
        end = max(number for number in inside if calls[number].made is not None)
        try:
            yield _express(calls, [(end, i) for i in range(len(calls[end].outputs))], inside)
        except NotExpressible:
            continue


def _replay(tape: Tape) -> list[_Made]:
    import torch

    replay, calls = Replay(tape), list[_Made]()
    with torch.no_grad():
        for call in tape.calls:
            operands = replay.operands_of(call)
            kept = [x.clone() for x in operands] if call.writes else operands
            made = None if call.read is None else call.read(kept)
            outputs = replay.advance(call)
            calls.append(_Made(call, kept, [y.clone() for y in outputs] if call.writes else outputs, made))
    return calls


def _express(calls: Sequence[_Made], results: Sequence[Edge], inside: set[int] | None = None) -> TapedGraph:
    """The calls that `results` need, of those `inside`, as a graph. Raises NotExpressible."""
    writer = _GraphWriter(calls, inside if inside is not None else set(range(len(calls))))
    floats = [e for e in results if calls[e[0]].outputs[e[1]].is_floating_point()] or list(results)
    writer.count_uses(floats)
    texts = [writer.write(edge) for edge in floats]
    dtypes = {DTYPE_NAMES.get(str(t.dtype)) for t in writer.tensors.values() if t.is_floating_point()}
    if len(dtypes) != 1 or None in dtypes:
        raise NotExpressible("floats of several dtypes, or of none")
    text = PREFIX + (texts[0] if len(texts) == 1 else f"({','.join(texts)})")
    try:
        op = load_graph(text)
    except OpError as error:
        raise NotExpressible(" ".join(str(error).split())) from None
    return TapedGraph(text, str(dtypes.pop()), {n: writer.tensors[n] for n in op.tensors})


@dataclass
class _GraphWriter:
    """The expression so far: what has a name, and the tensors that it takes."""

    calls: Sequence[_Made]
    inside: set[int]
    tensors: dict[str, Any] = field(default_factory=dict)
    _given: dict[Source, str] = field(default_factory=dict)
    _bound: dict[Edge, str] = field(default_factory=dict)  # what was written, and is named
    _uses: dict[Edge, int] = field(default_factory=dict)

    def count_uses(self, results: Sequence[Edge]) -> None:
        """How often each output is taken, from the results backwards."""
        waiting = list(results)
        while waiting:
            edge = waiting.pop()
            self._uses[edge] = self._uses.get(edge, 0) + 1
            if self._uses[edge] == 1:
                waiting += [s for s in self.calls[edge[0]].call.sources if isinstance(s, tuple) and s[0] in self.inside]

    def write(self, source: Source) -> str:
        """The text of what gives a tensor: a name, where it has one already. Raises NotExpressible."""
        if isinstance(source, int) or source[0] not in self.inside:
            return self._name_tensor(source)
        if source not in self._bound:
            text = self._write_call(source)
            if self._uses.get(source, 0) < 2 or text.isidentifier():
                return text
            self._bound[source] = f"t{len(self._bound)}"
            return f"({self._bound[source]}:={text})"
        return self._bound[source]

    def _name_tensor(self, source: Source, tensor: Any = None) -> str:
        if source not in self._given:
            self._given[source] = f"x{len(self._given)}"
            self.tensors[self._given[source]] = self._find_tensor(source) if tensor is None else tensor
        return self._given[source]

    def _find_tensor(self, source: Source) -> Any:
        if isinstance(source, tuple):
            return self.calls[source[0]].outputs[source[1]]
        pairs = ((s, t) for made in self.calls for s, t in zip(made.call.sources, made.operands, strict=True))
        return next(t for s, t in pairs if s == source)

    def _write_call(self, edge: Edge) -> str:
        made = self.calls[edge[0]]
        if made.made is None:
            return self._write_move(made, edge[1])
        call = made.made
        if call.op.name == "cast":
            raise NotExpressible("a conversion to another dtype of floats, which rounds in between")
        named = [*call.tensors] if call.op.variadic else [*call.op.tensors]
        texts = [self._write_operand(made, call.tensors.get(name)) for name in named]
        params = [f"{name}={_format_value(value)}" for name, value in call.params.items()]
        text = f"{call.op.name}({','.join([*texts, *params])})"
        if len(call.op.outputs) == 1 and len(made.outputs) == 1:
            return text
        return f"{text}.{call.op.outputs[edge[1]] if len(call.op.outputs) > edge[1] else f'y{edge[1]}'}"

    def _write_operand(self, made: _Made, tensor: Any) -> str:
        """The operand that a tensor is; a number that was no tensor is given as one."""
        if tensor is None:
            return "None"
        for source, operand in zip(made.call.sources, made.operands, strict=True):
            same = operand is tensor or (
                made.call.writes and operand.shape == tensor.shape and bool((operand == tensor).all())
            )
            if same:
                return self.write(source)
        return self._name_tensor(-1 - len(self._given), tensor)

    def _write_move(self, made: _Made, output: int) -> str:
        """The text of what a call moves, told from numbers of which no two are alike."""
        apart = _tell_apart(made.operands)
        try:
            moved = find_leaves(made.call.apply(apart, True))
        except (RuntimeError, TypeError, ValueError):  # it computes, of what cannot be of such numbers
            moved = []
        for source, x, told in zip(made.call.sources, made.operands, apart, strict=True):
            kept = output < len(moved) and x.dtype == made.outputs[output].dtype and told.dtype == moved[output].dtype
            if kept and (move := _find_move(told, moved[output])) is not None:
                return move(self.write(source))
        raise NotExpressible(f"{made.call.name} is no operator, nor does it move elements as one")


def _tell_apart(tensors: Sequence[Any]) -> list[Any]:
    """Tensors like these whose floats are all different; others as they are."""
    import torch

    starts = itertools.accumulate((x.numel() for x in tensors), initial=1)
    return [
        torch.arange(start, start + x.numel(), dtype=torch.float64).reshape(x.shape) if x.is_floating_point() else x
        for x, start in zip(tensors, starts, strict=False)
    ]


def _format_value(value: Any) -> str:
    if is_number(value) and math.isnan(value):
        raise NotExpressible("a parameter that is no number")
    return repr(value).replace(" ", "").replace("inf", "1e999")  # as a literal the name would be a parameter


def _find_move(x: Any, y: Any) -> Callable[[str], str] | None:
    """How a graph writes what has the elements of `x` in the places of `y`; None where no operator moves them so."""
    import torch

    if x.shape == y.shape and torch.equal(x, y):
        return lambda text: text
    if x.numel() == y.numel() and torch.equal(x.reshape(-1), y.reshape(-1)):
        return lambda text: f"reshape({text},shape={_format_value(tuple(y.shape))})"
    if sorted(x.shape) == sorted(y.shape) and x.ndim <= _MAX_ORDERED_AXES:
        for order in itertools.permutations(range(x.ndim)):
            if tuple(x.shape[i] for i in order) == tuple(y.shape) and torch.equal(x.permute(order), y):
                return lambda text: f"permute({text},dims={_format_value(order)})"
    for dim in range(x.ndim):
        kept = [*x.shape[:dim], *x.shape[dim + 1 :]]
        size = y.shape[dim] if y.ndim == x.ndim else 1
        if size > x.shape[dim] or kept != ([*y.shape[:dim], *y.shape[dim + 1 :]] if y.ndim == x.ndim else [*y.shape]):
            continue
        for start in range(x.shape[dim] - size + 1):
            part = x.narrow(dim, start, size)
            if torch.equal(part.reshape(y.shape), y):
                cut = f",dim={dim},start={start},end={start + size})"
                if y.ndim == x.ndim:
                    return lambda text: f"slice({text}{cut}"
                return lambda text: f"reshape(slice({text}{cut},shape={_format_value(tuple(y.shape))})"
    with_axes = (1,) * (y.ndim - x.ndim) + tuple(x.shape)
    if (
        x.ndim <= y.ndim
        and all(n in (1, m) for n, m in zip(with_axes, y.shape, strict=False))
        and torch.equal(x.expand(y.shape), y)
    ):
        return lambda text: f"expand({text},shape={_format_value(tuple(y.shape))})"
    return None
