"""Who is tested: the protocol, the C header, the built-in adapters."""

from opproof.backends.protocol import Backend, BackendFailed, InputChanged, OutOfBounds, Unsupported
from opproof.vocabulary.errors import BackendError

__all__ = ["Backend", "BackendError", "BackendFailed", "InputChanged", "OutOfBounds", "Unsupported"]
