"""What the gated units share: which half is activated and which one gates.

One tensor is split in halves along its last axis, first the activated half and then the gate, or
the reverse where swapped; two tensors are the two halves already.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array


def halves(x: Array, gate: Array | None, swapped: bool) -> tuple[Array, Array]:
    """The activated half and the gate."""
    if gate is not None:
        return x, gate
    n = x.shape[-1] // 2
    return (x[..., n:], x[..., :n]) if swapped else (x[..., :n], x[..., n:])


def gradients(dactivated: Array, dgate: Array, gate: Array | None, swapped: bool) -> Array | tuple[Array, Array]:
    """Gradients (or distances) of both halves in the form of the inputs: one tensor or two."""
    if gate is not None:
        return dactivated, dgate
    return np.concatenate((dgate, dactivated) if swapped else (dactivated, dgate), axis=-1)


def chunks(torch: Any, x: Any, gate: Any, swapped: bool) -> tuple[Any, Any]:
    """The activated half and the gate, of PyTorch's tensors, in float32 where they have 16 bits.

    A kernel of one pass computes so; 16-bit intermediates would be rounded.
    """
    first, second = torch.chunk(x, 2, dim=-1) if gate is None else (x, gate)
    wide = torch.promote_types(x.dtype, torch.float32)
    first, second = first.to(wide), second.to(wide)
    return (second, first) if swapped and gate is None else (first, second)
