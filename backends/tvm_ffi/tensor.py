"""A NumPy array lent through DLPack, bfloat16 too, which NumPy itself does not export."""

from __future__ import annotations

import ctypes
from typing import Any

from opproof.backends.c.structs import CPU, DLTensor, tensor_of
from opproof.core.arrays import Array

NAME = b"dltensor"  # what DLPack calls a capsule that nobody has taken; must outlive it


class ManagedTensor(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


#: What a borrower holds, by address, until it calls the deleter: a module that keeps a tensor keeps its memory too.
_LENT: dict[int, tuple[ManagedTensor, Array]] = {}


def _give_back(address: int) -> None:
    _LENT.pop(address, None)


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_give_back)


class Borrowed:
    """What TVM-FFI is given for `array`, whose memory it borrows, read-only or not."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __dlpack__(self, **_: Any) -> Any:
        lent = ManagedTensor(tensor_of(self._array), None, ctypes.cast(_DELETER, ctypes.c_void_p))
        address = ctypes.addressof(lent)
        _LENT[address] = lent, self._array
        new = ctypes.pythonapi.PyCapsule_New
        new.argtypes, new.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
        return new(address, NAME, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0
