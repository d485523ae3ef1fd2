"""States that fade step by step, as others compute them: by differences of a running sum of the logarithms of decays.

h = d h + u, step after step, has the roundoff of each d. In chunks a decay over several steps is exp(run_t - run_s), where
run is the sum of all log d so far: it has the roundoff of that sum, 400 where each decay is e^-100 or 1. And the gradient
of a decay is a reversed running sum of what rows and columns of a chunk leave over, in which each step's own part is
added and taken off again: it has the roundoff of all that goes through the states from there on, and is 0 in truth where
the decay is. A reference that is a loop knows of neither; both are noise in `Algorithm.OTHER`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

#: Minus log of a decay that is 0 in float64.
_LOG_OF_ZERO = 745.0
#: A decay of 1, with its noise.
_MOST = 1 + 2.0**-20
#: Calls of a product by a decay in [0, 1], of the same shapes, from which on it is a loop.
_LEAST_STEPS = 2


@dataclass
class _Step:
    """One decay of a state, and the state after it, once something was added."""

    decay: Any
    state: Any  # kept, so that no other tensor gets its memory
    faded: Any
    run: Any  # minus the sum of log d so far, 0 where it is no loop yet
    after: Any = None


@dataclass
class Decays:
    """The steps of one evaluation, by the memory of what they begin with and give."""

    runs: dict[Any, tuple[int, Any]] = field(default_factory=dict)  # by shapes: steps, and the sum of -log d so far
    before: dict[int, _Step] = field(default_factory=dict)
    faded: dict[int, _Step] = field(default_factory=dict)
    by: dict[int, _Step] = field(default_factory=dict)
    passed: dict[Any, Any] = field(default_factory=dict)  # by shape: squares of what went through later states

    def fade(self, noise: Any, a: Any, b: Any, y: Any) -> Any:
        """`y` = a b in a forward; where one of them is the decay of a state, with the roundoff of the running sum."""
        known = a.data_ptr() in self.before or b.data_ptr() in self.before
        pair = next(((d, h) for d, h in ((a, b), (b, a)) if d.numel() <= h.numel() and self._is_decay(d, h)), None)
        if pair is None or known:
            return y
        (decay, state), torch = pair, noise.torch
        key = decay.shape, state.shape
        steps, run = self.runs.get(key, (0, 0.0))
        steps, run = steps + 1, run - decay.detach().log().clamp(-_LOG_OF_ZERO, 0.0)
        self.runs[key] = steps, run
        run = run if steps >= _LEAST_STEPS else 0.0 * run
        y = y * (1 + noise.drawn(run) * run * noise.amplitudes.interior)
        step = _Step(decay.detach(), state, y, run)
        self.before[state.data_ptr()] = self.faded[y.data_ptr()] = self.by[decay.data_ptr()] = step
        return y

    def _is_decay(self, d: Any, state: Any) -> bool:
        """Whether numbers are between 0 and 1, and more than a mask but where one was before it."""
        if not bool(((d >= 0) & (d <= _MOST)).all()):
            return False
        return (d.shape, state.shape) in self.runs or bool(((d > 0) & (d < 1)).any())

    def add(self, a: Any, b: Any, y: Any) -> None:
        """Take note of y = a + b, where one of them is a state that has faded."""
        for t in (a, b):
            step = self.faded.get(t.data_ptr()) if hasattr(t, "data_ptr") else None
            if step is not None and step.after is None and y.shape == step.faded.shape:
                step.after = y.detach()

    def pull(self, noise: Any, a: Any, b: Any, y: Any) -> Any:
        """`y` = a b in a backward: the gradient of a state that fades, or of the decay of one."""
        delta = noise.amplitudes.interior
        if (step := self.by.get(b.data_ptr()) or self.by.get(a.data_ptr())) is not None:
            run = step.run
            return y if y.shape != step.faded.shape else y * (1 + noise.drawn(run) * run * delta)
        step = self.before.get(b.data_ptr()) or self.before.get(a.data_ptr())
        if step is None or step.after is None or y.shape != step.after.shape:
            return y
        squares = self.passed.get(y.shape, 0.0) + ((a if b.data_ptr() in self.before else b) * step.after).square()
        self.passed[y.shape] = squares
        return y + noise.drawn(y) * noise.torch.where(step.decay > 0, squares.sqrt() / step.decay, 0.0) * delta


def round_faded(noise: Any, name: str, args: Sequence[Any], y: Any) -> Any:
    """The result of an operation, rounded, with what other ways of fading a state leave in it."""
    if noise.algorithm != "other" or noise.exact or noise.scattered or not all(hasattr(v, "data_ptr") for v in args[:2]):
        return y
    if name == "mul" and y.numel():
        return (noise.decays.pull if noise.in_backward else noise.decays.fade)(noise, *args[:2], y)
    if name == "add" and not noise.in_backward:
        noise.decays.add(*args[:2], y)
    return y
