"""States that fade step by step, as others compute them: by differences of a running sum of the logarithms of decays.

h = d h + u, step after step, has the roundoff of each d. In chunks a decay over several steps is exp(run_t - run_s),
run the sum of all log d so far, and has the roundoff of that: of 400 where each decay is e^-100 or 1. The gradient of a
decay is a reversed running sum then, in which each step's own part is added and taken off again: it has the roundoff of
all that goes through the states from there on, by a scan of logarithms times the sum, and is 0 in truth where the decay
is. A reference that is a loop knows of neither; both are noise in `Algorithm.OTHER`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
