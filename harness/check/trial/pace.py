"""How long a variant will take, by how long others took: what there is no time for is not begun."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from opproof.harness.check.tensors import Tensor

#: Elements that take as long to judge as a call without any.
_CALL = 1 << 14


@dataclass
class Pace:
    """Seconds by work: of the last variant, and the most of those that are larger than what was `given`."""

    given: Sequence[Tensor]
    last: float = 0.0
    larger: float = 0.0

    def seconds(self, asked: Sequence[Tensor]) -> float:
        """That a variant with these tensors will take."""
        return max(self.last, self.larger) * self._work(asked)

    def took(self, asked: Sequence[Tensor], seconds: float) -> None:
        """Learn from one that has been tried."""
        self.last = seconds / self._work(asked)
        if self._work(asked) > 2 * self._work(self.given):
            self.larger = max(self.larger, self.last)

    def growth(self, asked: Sequence[Tensor]) -> float:
        """How many times the work of what was given these are."""
        return self._work(asked) / self._work(self.given)

    def _work(self, asked: Sequence[Tensor]) -> float:
        """By what time grows: all elements, as much again for each of what any call takes.

        And by the root of what the longest axis has grown: a reference may have a step for each of its places.
        """
        pairs = [
            (n, m) for a, b in zip(self.given, asked, strict=False) for n, m in zip(a.shape, b.shape, strict=False)
        ]
        growth = max((m / n for n, m in pairs if n), default=1.0)
        return float((_CALL + sum(t.values.size for t in asked)) * math.sqrt(max(growth, 1.0)))
