"""Operators registered with torch.library: its own opcheck of schema, fake tensors and autograd registration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opproof.harness.check.sides.subject import Arguments
from opproof.harness.check.tensors import Tensor, to_torch

#: Of opcheck's tests those that compile nothing.
TESTS = ("test_schema", "test_autograd_registration", "test_faketensor")


def is_custom(candidate: Any) -> bool:
    """Whether it is an operator of torch.library, in any of its three forms."""
    from torch._library.custom_ops import CustomOpDef
    from torch._ops import OpOverload, OpOverloadPacket

    return isinstance(candidate, OpOverload | OpOverloadPacket | CustomOpDef)


def objections(candidate: Any, arguments: Arguments, tensors: Sequence[Tensor], gradients: bool) -> list[str]:
    """What opcheck has against it, a sentence a test."""
    import torch

    made = [to_torch(torch, t, "cpu") for t in tensors]
    given, named = arguments.split([t.requires_grad_() if gradients and t.is_floating_point() else t for t in made])
    said = torch.library.opcheck(candidate, given, named, test_utils=TESTS, raise_exception=False)
    return [f"torch.library.opcheck, {name}: {_line(found)}" for name, found in said.items() if found != "SUCCESS"]


def _line(found: Any) -> str:
    """The first sentence of what was raised."""
    text = " ".join(str(found).split())
    return f"{type(found).__name__}: {text[:300]}"
