"""Who is tested: the protocol, the C header, the built-in adapters."""

from opproof.backends._protocol import Backend, BackendError, BackendFailed, InputChanged, OutOfBounds, Unsupported

__all__ = ["Backend", "BackendError", "BackendFailed", "InputChanged", "OutOfBounds", "Unsupported"]
