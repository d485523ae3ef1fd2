"""A PyTorch function alone as an operator: its values and, by autograd, its gradients, in float64.

`reference` in a file of one's own takes the place of `forward` and `vjp`. How far honest rounding goes is then measured
where PyTorch dispatches (harness/reference/torch/).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from opproof.core.errors import OpError
from opproof.core.tuples import tuple_of
from opproof.reference_ops._torch import autograd

Parameters = list[inspect.Parameter]


@dataclass(frozen=True)
class Alone:
    """The function as those of an operator's file: on NumPy arrays."""

    reference: Callable[..., Any]
    positional: Parameters  # tensors
    named: Parameters  # parameters

    def forward(self, *inputs: Any, **params: Any) -> Any:
        """Outputs for float64, int64 or bool arrays, None where one is absent."""
        with _float64() as torch:
            ys = [np.array(torch.as_tensor(y).numpy()) for y in self._called(_tensors(torch, inputs), params)]
        return ys[0] if len(ys) == 1 else tuple(ys)

    def vjp(self, g: Any, y: Any, *inputs: Any, **params: Any) -> tuple[Any, ...]:
        """Autograd's gradients; None for what is no array of floats."""
        del y
        with _float64() as torch:
            needs = [x is not None and np.asarray(x).dtype.kind == "f" for x in inputs]
            gs = _tensors(torch, tuple_of(g))
            found = autograd(torch, lambda *t: self._called(t, params), _tensors(torch, inputs), needs, gs)
        return tuple(None if d is None else d.numpy() for d in found)

    def _called(self, tensors: Sequence[Any], params: dict[str, Any]) -> tuple[Any, ...]:
        return tuple_of(self.reference(*tensors, **params))


def alone(reference: Callable[..., Any], path: Path) -> Alone:
    """Which arguments are tensors and which parameters. Raises OpError where the function does not tell.

    Tensors are positional, without a default or with None, unless annotated as something else; others are parameters.
    """
    try:
        found = inspect.signature(reference).parameters.values()
    except (TypeError, ValueError):
        raise OpError(
            f"{path}: reference does not tell its arguments; write `def reference(x, *, dim): return ...` around it."
        ) from None
    positional = [p for p in found if _is_tensor(p)]
    if not positional:
        raise OpError(f"{path}: reference takes no tensor; expected a function of tensors, parameters by keyword.")
    return Alone(reference, positional, [p for p in found if not _is_tensor(p) and p.kind is not p.VAR_KEYWORD])


def _is_tensor(p: inspect.Parameter) -> bool:
    if p.kind is p.VAR_POSITIONAL:
        return True
    if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) or p.default not in (p.empty, None):
        return False
    return p.annotation in (p.empty, Any) or "Tensor" in str(p.annotation)


@contextlib.contextmanager
def _float64() -> Iterator[Any]:
    """A block in which new tensors are float64, and torch."""
    import torch

    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            yield torch
    finally:
        torch.set_default_dtype(default)


def _tensors(torch: Any, arrays: Sequence[Any]) -> list[Any]:
    return [None if a is None else torch.from_numpy(np.array(a)) for a in arrays]
