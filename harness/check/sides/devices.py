"""Where a candidate computes: where it is told to, else where its parameters or the given tensors are."""

from __future__ import annotations

from typing import Any

from opproof.harness.check.sides.subject import is_module


def device_of(candidate: Any, inputs: Any, asked: str | None) -> str:
    """A device by PyTorch's name. Raises BackendError where it is not there."""
    from opproof.harness.plugin.function_backend import torch_is_there

    if asked is not None:
        torch_is_there(asked)
        return asked
    owned = [*candidate.parameters()] if is_module(candidate) else []
    given = [v for v in inputs if hasattr(v, "device")] if isinstance(inputs, list | tuple) else []
    return next((str(t.device) for t in (*owned, *given)), "cpu")
