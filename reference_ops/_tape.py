"""A model on tape: its calls with what each takes from which, to be made again, in float64 or with other answers.

Views and what writes into its argument are calls like others: made in the same order on tensors of the same memory,
they have the same effect. What the model was given, weights and inputs, is kept as it was first seen.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from opproof.core.errors import UsageError
from opproof.core.graph import Edge
from opproof.reference_ops._torch_calls import OperatorCall, is_in_place

#: What a call takes: an output of another one, or the number of a tensor that was given.
Source: TypeAlias = "Edge | int"
#: Methods that convert to the dtype of their name; in float64 all floats stay wide.
_CONVERSIONS = {"float", "half", "bfloat16", "double", "type_as"}
#: Methods that take a tensor out of what gradients follow.
_DETACHED = {"detach", "detach_", "data", "requires_grad_"}
#: Functions that draw: made again they give something else, and so their results count as given.
_DRAWN = {"rand_like", "randn_like", "randint_like", "bernoulli", "normal_", "uniform_", "multinomial", "poisson"}


@dataclass(frozen=True, eq=False)
class TapedCall:
    """A call of a function of PyTorch, or of a node of a model."""

    name: str
    place: str  # in the model, as the model says it
    sources: tuple[Source, ...]
    apply: Callable[[Sequence[Any], bool], Any]  # of these tensors, and whether floats are float64
    read: Callable[[Sequence[Any]], OperatorCall] | None = None  # of these tensors an operator's; None where it is none
    judged: bool = True  # not what computes nothing
    writes: bool = False  # into its first tensor


@dataclass
class Tape:
    """The calls so far, and where each tensor that was seen comes from."""

    calls: list[TapedCall] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)  # copies of what came from nowhere
    results: list[Edge] = field(default_factory=list)  # what the model gives
    others: Counter[str] = field(default_factory=Counter)  # what it calls that is no operator of ours
    _known: dict[int, tuple[Any, Source]] = field(default_factory=dict)  # by identity; kept, so that none is reused
    _modules: list[tuple[Any, str]] = field(default_factory=list)  # that are running, with their names
    _names: Mapping[int, str] = field(default_factory=dict)

    def source_of(self, tensor: Any) -> Source:
        """Where a tensor comes from; one that was not seen yet is given."""
        if id(tensor) not in self._known:
            self._give(tensor)
        return self._known[id(tensor)][1]

    def _give(self, tensor: Any) -> None:
        self._known[id(tensor)] = tensor, len(self.given)
        self.given.append(tensor.detach().clone())

    def add(self, call: TapedCall, outputs: Sequence[Any]) -> None:
        """Note a call that was made, with the tensors that came of it, in their order."""
        for i, y in enumerate(outputs):
            self._known[id(y)] = y, (len(self.calls), i)
        self.calls.append(call)

    def add_function(
        self,
        func: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: Any,
        read: Callable[..., OperatorCall] | None,
    ) -> None:
        """Note a call of PyTorch whose tensors have sources; `read` takes its arguments as they come another time."""
        name, leaves = str(getattr(func, "__name__", func)), _Leaves.of((tuple(args), dict(kwargs)))
        if name == "__get__":
            name = str(getattr(getattr(func, "__self__", None), "__name__", name))
        outputs = _Leaves.of(result).tensors
        writes = is_in_place(func, args, kwargs)
        if name in _DRAWN and writes and leaves.tensors:
            self._give(leaves.tensors[0])
        if name in _DRAWN or name in ("grad", "backward") or not leaves.tensors or not (outputs or writes):
            return

        def apply(tensors: Sequence[Any], wide: bool) -> Any:
            if wide and name in _DETACHED:
                return tensors[0]
            given, named = leaves.fill_in(tensors, wide)
            return given[0].double() if wide and name in _CONVERSIONS else func(*given, **named)

        def reread(tensors: Sequence[Any]) -> OperatorCall:
            given, named = leaves.fill_in(tensors, False)
            assert read is not None
            return read(given, named)

        sources = tuple(map(self.source_of, leaves.tensors))
        self.add(TapedCall(name, self.place, sources, apply, reread if read else None, writes=writes), outputs)

    @property
    def place(self) -> str:
        """The name of the module that is running."""
        return self._modules[-1][1] if self._modules else ""

    @contextlib.contextmanager
    def watched_modules(self) -> Iterator[None]:
        """A block in which calls have their modules' names, from the first on; what the last gives is the result."""
        from torch.nn.modules import module as hooks

        def enter(module: Any, _: Any) -> None:
            if not self._names:  # what came before made the weights
                self.calls.clear()
                self.given.clear()
                self._known.clear()
            if not self._modules:
                self._names = {id(m): name for name, m in module.named_modules()}
            self._modules.append((module, self._names.get(id(module), "") or type(module).__name__))

        def leave(module: Any, _: Any, result: Any) -> None:
            while self._modules and self._modules.pop()[0] is not module:
                pass
            if not self._modules and (found := self._find_edges(result)):
                self.results = found

        added = [hooks.register_module_forward_pre_hook(enter), hooks.register_module_forward_hook(leave)]
        try:
            yield
        finally:
            for hook in added:
                hook.remove()

    def _find_edges(self, result: Any) -> list[Edge]:
        found = [self._known[id(y)][1] for y in _Leaves.of(result).floats if id(y) in self._known]
        return [edge for edge in found if isinstance(edge, tuple)]

    def prune(self, wanted: Sequence[Source]) -> None:
        """Leave out the calls that none of the `wanted` needs, of a model in which none writes into its argument."""
        needed = {source[0] for source in wanted if isinstance(source, tuple)}
        for number in reversed(range(len(self.calls))):
            if number in needed:
                needed |= {s[0] for s in self.calls[number].sources if isinstance(s, tuple)}
        place = {old: new for new, old in enumerate(sorted(needed))}

        def move(source: Source) -> Source:
            return source if isinstance(source, int) else (place[source[0]], source[1])

        kept = [self.calls[old] for old in place]
        self.calls = [replace(call, sources=tuple(map(move, call.sources))) for call in kept]
        self.results = [(place[number], output) for number, output in self.results]
        self._known.clear()

    def finish(self, model: str) -> None:
        """Settle the result: what a module gave, or the last floats. Raises UsageError where there is nothing."""
        for number in reversed(range(len(self.calls))):
            self.results = self.results or self._find_edges(self._outputs_of(number))
        if not self.results or not any(call.read for call in self.calls):
            raise UsageError(f"{model} calls no operator of opproof: there is nothing to follow.")

    def _outputs_of(self, number: int) -> list[Any]:
        return [t for t, source in self._known.values() if isinstance(source, tuple) and source[0] == number]


@dataclass(frozen=True)
class _Leaves:
    """Arguments or results taken apart: tensors, and all else in its place."""

    leaves: Sequence[Any]
    spec: Any

    @classmethod
    def of(cls, tree: Any) -> _Leaves:
        from torch.utils._pytree import tree_flatten

        return cls(*tree_flatten(tree))

    @property
    def tensors(self) -> list[Any]:
        import torch

        return [x for x in self.leaves if isinstance(x, torch.Tensor)]

    @property
    def floats(self) -> list[Any]:
        return [x for x in self.tensors if x.is_floating_point()]

    def fill_in(self, tensors: Sequence[Any], wide: bool) -> Any:
        """The same with other tensors; floats that are asked for are float64 where `wide`."""
        import torch
        from torch.utils._pytree import tree_unflatten

        rest = iter(tensors)

        def place(x: Any) -> Any:
            if isinstance(x, torch.Tensor):
                return next(rest)
            return torch.float64 if wide and isinstance(x, torch.dtype) and x.is_floating_point else x

        return tree_unflatten(list(map(place, self.leaves)), self.spec)


def find_leaves(tree: Any) -> list[Any]:
    """The tensors in arguments or results, in their order."""
    return _Leaves.of(tree).tensors


@dataclass
class Replay:
    """The calls of a tape made again one by one; `wide` in float64."""

    tape: Tape
    wide: bool = False
    outputs: list[list[Any]] = field(default_factory=list)  # of the calls so far

    def __post_init__(self) -> None:
        self._given = [self._widen(t.clone()) for t in self.tape.given]

    def _widen(self, tensor: Any) -> Any:
        return tensor.double() if self.wide and tensor.is_floating_point() else tensor

    def operands_of(self, call: TapedCall) -> list[Any]:
        """The tensors that a call takes, as they are now."""
        return [self._given[s] if isinstance(s, int) else self.outputs[s[0]][s[1]] for s in call.sources]

    def advance(self, call: TapedCall, change: Callable[[int, Any], Any] = lambda _, y: y) -> list[Any]:
        """Make the next call and return its outputs, each as `change(number, output)` has it."""
        operands = self.operands_of(call)
        if call.writes and operands:  # what others have saved of it stays
            first = operands[0]
            made = call.apply([first.clone(), *operands[1:]], self.wide) if call.name != "__setitem__" else None
            if made is None or made.shape != first.shape:
                call.apply(operands, self.wide)
            else:
                first.copy_(change(0, made))
            self.outputs.append([first])
        else:
            made = _Leaves.of(call.apply(operands, self.wide)).tensors
            self.outputs.append([change(i, self._widen(y)) for i, y in enumerate(made)])
        return self.outputs[-1]

    @property
    def results(self) -> list[Any]:
        """What the model gives."""
        return [self.outputs[i][k] for i, k in self.tape.results]


#: How many directions the output's error is looked at along: its size is known to 1 / sqrt(2 * 16) of itself.
_DIRECTIONS = 16


def measure_effects(tape: Tape, errors: Mapping[Edge, Any], seed: int = 0) -> dict[Edge, float]:
    """How far each of some errors, of outputs of calls, moves what the model gives, to the first order: norms.

    The product of the output's derivative and an error is found along random directions, all errors at once.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    replay, added = Replay(tape, wide=True), dict[Edge, Any]()
    with torch.enable_grad():
        for number, call in enumerate(tape.calls):

            def change(i: int, y: Any, number: int = number) -> Any:
                if (number, i) not in errors:
                    return y
                added[number, i] = torch.zeros_like(y, requires_grad=True)
                return y + added[number, i]

            replay.advance(call, change)
        results = [y for y in replay.results if y.requires_grad]
        squares = dict.fromkeys(errors, 0.0)
        for last in reversed(range(_DIRECTIONS if results else 0)):
            along = [torch.randn(y.shape, generator=generator, dtype=y.dtype) for y in results]
            found = torch.autograd.grad(results, [*added.values()], along, retain_graph=last > 0, allow_unused=True)
            for edge, gradient in zip(added, found, strict=True):
                if gradient is not None:
                    squares[edge] += float((gradient * errors[edge]).sum()) ** 2 / _DIRECTIONS
    return {edge: square**0.5 for edge, square in squares.items()}


def measure_noise(tape: Tape, scales: Mapping[Edge, Any], runs: int = 4, seed: int = 0) -> float:
    """How far noise of these sizes on outputs of calls moves what the model gives, as a whole: the norm, of runs."""
    import torch

    generator = torch.Generator().manual_seed(seed)

    def run(noisy: bool) -> list[Any]:
        replay = Replay(tape, wide=True)
        for number, call in enumerate(tape.calls):

            def change(i: int, y: Any, number: int = number) -> Any:
                scale = scales.get((number, i)) if noisy else None
                return y if scale is None else y + scale * torch.randn(y.shape, generator=generator, dtype=y.dtype)

            replay.advance(call, change)
        return replay.results

    with torch.no_grad():
        exact = run(False)
        pairs = [pair for _ in range(runs) for pair in zip(run(True), exact, strict=True)]
    return math.sqrt(sum(float((a - b).square().sum()) for a, b in pairs) / runs)


def measure_distance(pairs: Sequence[tuple[Any, Any]]) -> float:
    """How far tensors are from others, relative to these, as a whole."""
    off = sum(float((a.double() - b).square().sum()) for a, b in pairs)
    size = sum(float(b.square().sum()) for _, b in pairs)
    return math.sqrt(off / size) if size else 0.0
