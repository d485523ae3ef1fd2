"""What an evaluation takes note of for other ways: outputs that are stored and read again, states that fade.

Whoever stores h = x + residual in bfloat16 reads it there again, forward and backward. A fused backward of attention
has o saved, and sum(g o) in place of sum(dP P) (Dao et al., FlashAttention, 2022, appendix B): one number for o = P v,
but for the rounding of o. Operations are counted, so that noisy evaluations know which one made such an output.

h = d h + u, step after step, has the roundoff of each d. In chunks a decay over several steps is exp(run_t - run_s),
run the sum of all log d so far, and has the roundoff of that: of 400 where each decay is e^-100 or 1. The gradient of a
decay is a reversed running sum then, in which each step's own part is added and taken off again: it has the roundoff of
all that goes through the states from there on, by a scan of logarithms times the sum, and is 0 in truth where the decay
is. A reference that is a loop knows of neither; both are noise in `Algorithm.OTHER`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from opproof.harness.reference.torch.intercept import with_modes_off

#: What autograd keeps an output with, for its own backward.
_SAVES = ("aten.detach.default", "aten.alias.default")


@dataclass(frozen=True)
class NarrowStore:
    """One store in 16 bits: the amplitude of its rounding, which is absolute below `tiny`."""

    once: float
    tiny: float

    def of(self, noise: Any, y: Any) -> Any:
        """`y` as it is stored."""
        size = noise.torch.where((y == 0) | y.isinf(), 0.0, y.abs().clamp_min(self.tiny))
        return y + self.once * size * noise.drawn(y)


@dataclass
class Operations:
    """Those of one evaluation, without what they are made of."""

    count: int = 0
    within: bool = False  # whether one is on its way
    stores: dict[int, NarrowStore] = field(default_factory=dict)  # of outputs, by the operation that made them
    made: dict[int, int] = field(default_factory=dict)  # operations by the id of what they made
    taken: set[int] = field(default_factory=set)  # operations whose result another one took
    changed: set[int] = field(default_factory=set)  # memory that was written to later


def count_operation(noise: Any, func: Any, given: Iterable[Any], made: Callable[[], Any]) -> Any:
    """What an operation makes; where it is an output that others take, and noise enters, stored once.

    `unrounded` of such an output is what it was before: it is rounded where it is judged.
    """
    own = noise.operations
    if own.within:
        return made()
    own.count, own.within = own.count + 1, True
    try:
        y = made()
    finally:
        own.within = False
    if noise.exact:
        _note(own, func, list(given), y)
    elif own.count in own.stores:
        return _store_output(noise, y, own.stores[own.count])
    return y


def _note(own: Operations, func: Any, given: Sequence[Any], y: Any) -> None:
    if str(func) not in _SAVES:
        own.taken.update(own.made[id(v)] for v in given if id(v) in own.made)
    if getattr(func, "_schema", None) is not None and func._schema.is_mutable:
        own.changed.update(_place(v) for v in given if _is_dense(v))
    elif _is_dense(y):
        own.made[id(y)] = own.count


def read_again(noise: Any, outputs: Sequence[Any], dtypes: Sequence[str]) -> dict[int, str]:
    """Dtypes of outputs in 16 bits that the exact evaluation went on with, by the operations that made them."""
    own = noise.operations
    found = {
        own.made.get(id(y), 0): dtype
        for y, dtype in zip(outputs, dtypes, strict=True)
        if dtype in ("f16", "bf16") and _is_dense(y) and _place(y) not in own.changed
    }
    own.made.clear()
    return {i: dtype for i, dtype in found.items() if i in own.taken}


def _is_dense(value: Any) -> bool:
    return hasattr(value, "untyped_storage") and str(value.layout) == "torch.strided"


def _place(value: Any) -> int:
    place: int = value.untyped_storage().data_ptr()
    return place


def _store_output(noise: Any, y: Any, store: NarrowStore) -> Any:
    z = store.of(noise, y)
    z.unrounded = y
    return z


#: By so much less than the largest, a score has no share.
_NO_SHARE_DISTANCE = 100.0


@dataclass
class Products:
    """What the exact evaluation has met: shares of softmax, and the products that they and their gradients came in."""

    outputs: Sequence[Any] = ()  # of the reference, those that are stored in 16 bits
    shares: list[tuple[Any, Any]] = field(default_factory=list)  # and the largest score of each row
    weighed: list[tuple[Any, Any]] = field(default_factory=list)  # P and P v
    pulled: list[tuple[Any, Any]] = field(default_factory=list)  # a product as large as some P, and its first factor

    def met(self, a: Any, y: Any) -> None:
        """Note y = a b, if it may be of use."""
        with with_modes_off():
            if any(_holds(p, a) for p, _ in self.shares):
                self.weighed.append((a.detach(), y.detach()))
            elif any(p.numel() == y.numel() for p, _ in self.weighed):
                self.pulled.append((y.detach(), a.detach()))

    def largest(self, y: Any) -> Any:
        """The largest score in each row of the shares `y`, in size; None: they are no result that was met."""
        with with_modes_off():
            return next(
                (most for p, most in reversed(self.shares) if p.shape == y.shape and _has_same_elements(p, y)), None
            )

    def rounding(self, g: Any, y: Any) -> Any:
        """By how many roundoffs of o sum(g o) is off in each row of the shares `y`, whose gradient is `g`; None: no o.

        Shape of y, with 1 in place of the last axis.
        """
        with with_modes_off():
            o = next((o for p, o in reversed(self.weighed) if _holds(y, p)), None)
            incoming = next((a for product, a in reversed(self.pulled) if _holds(g, product)), None)
            if o is None or incoming is None or o.shape != incoming.shape:
                return None
            if not any(_has_elements_of(o, output) for output in self.outputs):
                return None
            return (incoming * o).square().sum(-1).sqrt().reshape(*y.shape[:-1], 1)


def find_largest_score(x: Any, dim: int) -> Any:
    """The size of the largest score of each row, of those that have a share: e^-100 is none, nor is a mask's -1e9."""
    with with_modes_off():
        plain = x.detach().nan_to_num(0.0, 0.0, float("-inf"))
        if not plain.numel() or not plain.dim():
            return plain.abs()
        seen = plain >= plain.amax(dim, keepdim=True) - _NO_SHARE_DISTANCE
        return plain.masked_fill(~seen | plain.isinf(), 0.0).abs().amax(dim, keepdim=True)


def _has_same_elements(a: Any, b: Any) -> bool:
    return a.numel() == b.numel() and bool((a.detach().reshape(-1) == b.detach().reshape(-1)).all())


def _holds(rows: Any, part: Any) -> bool:
    """Whether `part` has the elements of `rows`, all or those of the first columns, or the last."""
    if rows.numel() == part.numel():
        return _has_same_elements(rows, part)
    count = part.shape[-1] if part.dim() else 0
    if not count or not rows.numel() or not rows.dim() or rows.numel() // rows.shape[-1] * count != part.numel():
        return False
    columns = rows.reshape(-1, rows.shape[-1])
    return _has_same_elements(columns[:, :count], part) or _has_same_elements(columns[:, -count:], part)


def _has_elements_of(o: Any, output: Any) -> bool:
    """Whether the output holds the elements of `o`, in any order: heads come side by side in it."""
    return o.numel() == output.numel() and _has_same_elements(
        *(v.detach().reshape(-1).sort().values for v in (o, output))
    )


#: Minus log of a decay that is 0 in float64.
_LOG_OF_ZERO = 745.0
#: A decay of 1, with its noise.
_MAX_DECAY = 1 + 2.0**-20


@dataclass
class _Step:
    """One decay of a state, and the state after it, once something was added."""

    decay: Any
    run: Any  # minus the sum of log d so far; 0 at the first step, which may be none of a loop
    state: Any  # kept, as what it fades to, so that no other tensor gets its memory
    faded: Any
    after: Any = None


@dataclass
class Decays:
    """The steps of one evaluation, by the memory of what takes part in them."""

    runs: dict[Any, Any] = field(default_factory=dict)  # by shapes: the sum of -log d so far
    by_decay: dict[int, _Step] = field(default_factory=dict)
    by_state: dict[int, _Step] = field(default_factory=dict)
    by_faded: dict[int, _Step] = field(default_factory=dict)
    passed: dict[Any, Any] = field(default_factory=dict)  # by shape: squares of what went through later states

    def multiply(self, noise: Any, a: Any, b: Any, y: Any) -> Any:
        """`y` = a b in a forward; where one of them is the decay of a state, with the roundoff of the running sum."""
        pair = next((pair for pair in ((a, b), (b, a)) if self._is_decay(*pair)), None)
        if pair is None or self._find(self.by_state, a, b) is not None:
            return y
        decay, state = pair
        key = decay.shape, state.shape
        logs = decay.detach().log().clamp(-_LOG_OF_ZERO, 0.0)
        run = self.runs[key] - logs if key in self.runs else 0.0 * logs
        self.runs[key] = run if key in self.runs else -logs
        y = y * (1 + noise.drawn(run) * run * noise.amplitudes.interior)
        step = _Step(decay.detach(), run, state, y)
        self.by_state[state.data_ptr()] = self.by_faded[y.data_ptr()] = self.by_decay[decay.data_ptr()] = step
        return y

    def add(self, a: Any, b: Any, y: Any) -> None:
        """Take note of y = a + b, where one of them is a state that has faded, or both."""
        for step in (self.by_faded.get(a.data_ptr()), self.by_faded.get(b.data_ptr())):
            if step is not None and step.after is None and y.shape == step.faded.shape:
                step.after = y.detach()

    def pull(self, noise: Any, a: Any, b: Any, y: Any) -> Any:
        """`y` = a b in a backward: the gradient of a state that fades, or of the decay of one."""
        own, step = self._find(self.by_decay, a, b), self._find(self.by_state, a, b)
        delta = noise.amplitudes.interior
        if own is not None:
            return y * (1 + noise.drawn(own.run) * own.run * delta) if y.shape == own.faded.shape else y
        if step is None or step.after is None or y.shape != step.after.shape:
            return y
        g = a if b.data_ptr() in self.by_state else b
        self.passed[y.shape] = squares = self.passed.get(y.shape, 0.0) + ((1 + step.run) * g * step.after).square()
        return y + noise.drawn(y) * noise.torch.where(step.decay > 0, squares.sqrt() / step.decay, 0.0) * delta

    def _is_decay(self, d: Any, state: Any) -> bool:
        """Whether numbers are between 0 and 1, and more than a mask but where one was before it."""
        if d.numel() > state.numel() or not bool(((d >= 0) & (d <= _MAX_DECAY)).all()):
            return False
        return (d.shape, state.shape) in self.runs or bool(((d > 0) & (d < 1)).any())

    @staticmethod
    def _find(known: dict[int, _Step], a: Any, b: Any) -> _Step | None:
        return known.get(b.data_ptr()) or known.get(a.data_ptr())
