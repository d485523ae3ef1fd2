"""A call that is asked for, and the answers that are kept."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .arrays import Arrays, Data, copied, placed

Told: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A call that is asked for, with several sets of data, which have their shapes in common."""

    backend: Any
    of: dict[str, Any]
    path: str

    @property
    def once(self) -> bool:
        """Whether there are no other numbers to call with, and one call is all."""
        return "other" not in self.of["data"]

    @property
    def alignment(self) -> int:
        """Bytes at a multiple of which its buffers lie."""
        return max(64, getattr(self.backend, "alignment", None) or 0)

    def fresh(self, name: str) -> Data:
        """Arrays of its own for one call."""
        inputs, cotangents = self.of["data"][name]
        return [placed(x, self.alignment) for x in inputs], [placed(g, self.alignment) for g in cotangents]

    def call(self, data: Data, params: dict[str, Any] | None = None) -> list[Any]:
        """What a call returns, as a list. Raises what it raises, and NotImplementedError where it declines so."""
        inputs, cotangents = data
        function = getattr(self.backend, "vjp" if self.of["gradient"] else "forward", None)
        if function is None:  # it writes where it is told
            raise NotImplementedError
        params = dict(self.of["params"]) if params is None else params
        more = (list(cotangents), list(self.of["needs"])) if self.of["gradient"] else ()
        got = function(self.of["op"], list(inputs), params, *more)
        if got is NotImplemented:
            raise NotImplementedError
        return list(got) if isinstance(got, (list, tuple)) else [got]

    def answer(self, name: str) -> list[Any]:
        """A copy of what one call gives."""
        return copied(self.call(self.fresh(name)))

    def supported(self) -> bool:
        """Whether it has the call, as it says itself."""
        supports = getattr(self.backend, "supports", None)
        if supports is None:
            return True
        arguments = inspect.signature(supports).parameters.values()
        told = any(a.name == "shapes" or a.kind is a.VAR_KEYWORD for a in arguments)
        shapes = [None if x is None else x.shape for x in self.of["data"]["asked"][0]]
        given = {"shapes": shapes} if told else {}
        return bool(supports(self.of["op"], list(self.of["dtypes"]), dict(self.of["params"]), **given) is True)

    def kept(self, way: str, results: Arrays) -> Told:
        """Save the results; by the way dtype and shape of each."""
        told = list[Any]()
        for i, result in enumerate(results):
            y = None if result is None else np.asarray(result)
            told.append(None if y is None else [y.dtype.name, y.shape])
            if y is not None:
                Path(f"{self.path}{way}{i}").write_bytes(y.tobytes())
        return {way: told}

    def is_kept(self, way: str, results: Arrays) -> bool:
        """Whether these are the bits that were saved."""
        return all(
            y is None or Path(f"{self.path}{way}{i}").read_bytes() == np.asarray(y).tobytes()
            for i, y in enumerate(results)
        )
