"""Tensors for kernels. On the CPU they lie in opproof's own memory, between its guard pages; a GPU has none, so there
each lies between two zones of known bytes, which are looked at when the kernels are done.

The zones of inputs hold nan, so that a read past the end shows in the result; those of outputs hold a number.
"""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import torch

from opproof.backends import InputChanged, OutOfBounds

ZONE = 1 << 14  # bytes on each side
NAN, NUMBER = 0xFF, 0xC3


def over(array: np.ndarray) -> torch.Tensor:
    """A tensor over the memory of `array`."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


@dataclass(frozen=True)
class Zoned:
    """A copy of `host` on a GPU: `tensor` with the same strides, in the middle of the bytes `whole`."""

    name: str
    host: torch.Tensor
    tensor: torch.Tensor
    whole: torch.Tensor
    before: torch.Tensor | None  # the bytes of an input before the call; None for an output


def zoned(name: str, array: np.ndarray, device: str, *, written: bool) -> Zoned:
    """`array` on the device, gaps between its elements included."""
    host = over(array)
    span = 1 + sum((n - 1) * s for n, s in zip(host.shape, host.stride(), strict=True)) if host.numel() else 0
    flat = torch.as_strided(host, (span,), (1,)).contiguous().view(torch.uint8)
    whole = torch.full((2 * ZONE + flat.numel(),), NUMBER if written else NAN, dtype=torch.uint8, device=device)
    whole[ZONE : ZONE + flat.numel()] = flat.to(device)
    data = whole[ZONE : ZONE + flat.numel()].view(host.dtype)
    tensor = torch.as_strided(data, host.shape, host.stride(), data.storage_offset())
    return Zoned(name, host, tensor, whole, None if written else whole.clone())


def check(z: Zoned) -> None:
    """Raises OutOfBounds or InputChanged when the zones of `z`, or an input's bytes, are no longer as they were."""
    end = z.whole.numel() - ZONE
    for side, zone in (("past its end", z.whole[end:]), ("before its beginning", z.whole[:ZONE])):
        changed = torch.nonzero(zone != (NUMBER if z.before is None else NAN)).flatten()
        if changed.numel():
            away = int(changed[0]) if side == "past its end" else ZONE - 1 - int(changed[-1])
            said = f"{changed.numel()} bytes {side} were written, the nearest {away} bytes away"
            raise OutOfBounds(f"{z.name}: {said}")
    if z.before is not None and not torch.equal(z.whole, z.before):
        raise InputChanged(f"{z.name}: {int((z.whole != z.before).sum())} bytes")
