"""Who is tested: the protocol, the C header, the built-in adapters."""

from opproof.backends.protocol import Backend, BackendFailed, InputChanged, OutOfBounds, Unsupported
from opproof.core.errors import BackendError

__all__ = [
    "MADE_OF_REFERENCES",
    "Backend",
    "BackendError",
    "BackendFailed",
    "InputChanged",
    "OutOfBounds",
    "Unsupported",
]

#: Backends made of the references, or of their PyTorch twins: no other may import them, in the tree or in a run.
MADE_OF_REFERENCES = frozenset({"executorch", "numpy", "torch"})
