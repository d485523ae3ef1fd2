"""An honest fused kernel: a reference of a few lines of PyTorch, its inputs, and how others compute it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

#: Rounds what a kernel writes to memory between its steps; nothing in float32.
Store = Callable[[Any], Any]
BF16 = "bf16, storage"


@dataclass(frozen=True)
class Kernel:
    """An honest candidate: `run(s, *tensors)` computes what `like(*tensors)` does, in float32 between its stores.

    Where it has `defects`, `run(s, *tensors, defect)` is its wrong twin.
    """

    like: Callable[..., Any]
    inputs: Any
    run: Callable[..., Any]
    dtypes: tuple[str, ...] = ("f32", BF16)
    options: dict[str, Any] = field(default_factory=dict)
    defects: tuple[str, ...] = ()


KERNELS: dict[str, Kernel] = {}


def honest(
    like: Callable[..., Any], inputs: Any, *dtypes: str, defects: Sequence[str] = (), **options: Any
) -> Callable[[Any], Any]:
    """Enter a function as an honest way of computing `like`; `options` are those of `check`."""

    def enter(run: Callable[..., Any]) -> Callable[..., Any]:
        KERNELS[run.__name__] = Kernel(like, inputs, run, dtypes or ("f32", BF16), options, tuple(defects))
        return run

    return enter


def drawn(*shapes: Any, positive: Sequence[int] = (), scale: float = 1.0) -> Callable[..., list[Any]]:
    """A factory of normal numbers; of numbers between 0.5 and 1.5 at the places in `positive`; labels as (rows, n)."""

    def make(seed: int, dtype: Any) -> list[Any]:
        rng, made = torch.Generator().manual_seed(seed), []
        for i, shape in enumerate(shapes):
            if isinstance(shape, dict):
                made.append(torch.randint(0, shape["below"], shape["shape"], generator=rng))
            elif i in positive:
                made.append((torch.rand(shape, generator=rng) + 0.5).to(dtype))
            else:
                made.append((torch.randn(shape, generator=rng) * scale).to(dtype))
        return made

    return make


def labels(*shape: int, below: int) -> dict[str, Any]:
    """A place for integers."""
    return {"shape": shape, "below": below}


def with_backward(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of two: `forward(s, *t)` gives results and what is saved, `backward(s, g, *saved)` all gradients."""

    class Fused(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, s: Store, *tensors: Any) -> Any:
            y, saved = forward(s, *tensors)
            ctx.save_for_backward(*saved)
            ctx.store = s
            return y

        @staticmethod
        def backward(ctx: Any, *gs: Any) -> Any:
            return None, *backward(ctx.store, *gs, *ctx.saved_tensors)

    apply: Callable[..., Any] = Fused.apply
    return apply
