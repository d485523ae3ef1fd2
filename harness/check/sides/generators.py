"""Generators of random numbers as arguments: every call gets one of its own, in the state of the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Generator:
    """A torch.Generator as it was given. One is as good as another: its state is no argument that tells calls apart."""

    device: str
    state: bytes = field(repr=False, compare=False)

    def made(self) -> Any:
        """A torch.Generator in this state."""
        import torch

        generator = torch.Generator(self.device)
        generator.set_state(torch.frombuffer(bytearray(self.state), dtype=torch.uint8))
        return generator


def stilled(value: Any) -> Any:
    """A value, in place of a torch.Generator what makes its like."""
    import torch

    if not isinstance(value, torch.Generator):
        return value
    return Generator(str(value.device), value.get_state().numpy().tobytes())


def drawing(value: Any) -> Any:
    """The value for one call."""
    return value.made() if isinstance(value, Generator) else value
