"""Modes of PyTorch that a call leaves on: they see every operation after it, and may make there what was to be made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from opproof.core.verdicts import Verdict
from opproof.harness.check.sides.harm import Harm


@dataclass
class Ended:
    """A candidate after which no mode stays on; `left`: what is said of the first that did."""

    call: Callable[[Sequence[Any]], Any]
    left: Harm | None = None

    def __call__(self, tensors: Sequence[Any]) -> Any:
        """What it returns, which nothing has touched when modes are taken off. Raises what it raises."""
        import torch

        before = _counts(torch)
        try:
            return self.call(tensors)
        finally:
            self._end(torch, before)

    def _end(self, torch: Any, before: tuple[int, int]) -> None:
        now = _counts(torch)
        left = [torch._C._pop_torch_dispatch_stack(None) for _ in range(now[0] - before[0])]  # noqa: SLF001
        left += [torch._C._pop_torch_function_stack() for _ in range(now[1] - before[1])]  # noqa: SLF001
        if left and self.left is None:
            text = f"{type(left[-1]).__name__}, a mode, was left on: it sees, and may answer, all that PyTorch is asked"
            self.left = Harm(Verdict.INPUT_CHANGED, text)


def _counts(torch: Any) -> tuple[int, int]:
    """How many modes of each kind this thread has on. PyTorch has no public name for its stacks."""
    return torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack()  # noqa: SLF001
