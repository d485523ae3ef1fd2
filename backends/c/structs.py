"""The structs of opproof.h in ctypes, and how arrays and parameters become them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.core.arrays import Array

CPU = 1  # kDLCPU
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # kDLInt, kDLUInt, kDLFloat, kDLBool by NumPy's kind
OWN_CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}  # kDLBfloat, kDLFloat8_e4m3fn, kDLFloat8_e5m2
PARAM_NONE, PARAM_INT, PARAM_FLOAT, PARAM_BOOL, PARAM_STRING, PARAM_INTS, PARAM_FLOATS = range(7)


class DLDevice(ctypes.Structure):
    """DLDevice."""

    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class DataType(ctypes.Structure):
    """DLDataType."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Param(ctypes.Structure):
    """opproof_param."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int32),
        ("count", ctypes.c_int32),
        ("i", ctypes.c_int64),
        ("f", ctypes.c_double),
        ("s", ctypes.c_char_p),
        ("ints", ctypes.POINTER(ctypes.c_int64)),
        ("floats", ctypes.POINTER(ctypes.c_double)),
    )


class CallStruct(ctypes.Structure):
    """opproof_call."""

    _fields_ = (
        ("op", ctypes.c_char_p),
        ("n_inputs", ctypes.c_int32),
        ("n_params", ctypes.c_int32),
        ("inputs", ctypes.POINTER(ctypes.POINTER(DLTensor))),
        ("params", ctypes.POINTER(Param)),
    )


@dataclass(frozen=True)
class DeviceArray:
    """An array in the memory of a device: `handle` is what its allocator returned; offset and strides in bytes."""

    handle: int
    byte_offset: int
    device_type: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def tensor_of(array: Array | DeviceArray | None) -> DLTensor | None:
    """The DLTensor that borrows `array`, which must outlive it; None for None.

    Raises TypeError for a dtype without a DLPack code.
    """
    if array is None:
        return None
    code = OWN_CODES.get(array.dtype.name, CODES.get(array.dtype.kind))
    if code is None:
        raise TypeError(f"no DLPack type for an array of {array.dtype}: expected floats, integers or booleans.")
    size, ndim = array.dtype.itemsize, len(array.shape)
    numbers = ctypes.c_int64 * max(ndim, 1)  # never NULL, not even for a scalar
    address, device_type, byte_offset = _place(array)
    return DLTensor(
        data=address,
        device=DLDevice(device_type, 0),
        ndim=ndim,
        dtype=DataType(code, 8 * size, 1),
        shape=numbers(*array.shape),
        strides=numbers(*(stride // size for stride in array.strides)),
        byte_offset=byte_offset,
    )


def _place(array: Array | DeviceArray) -> tuple[int, int, int]:
    """Address or handle, device and offset in bytes."""
    if isinstance(array, DeviceArray):
        return array.handle, array.device_type, array.byte_offset
    return array.__array_interface__["data"][0], CPU, 0


def make_pointers(tensors: Sequence[DLTensor | None]) -> Any:
    """An array of pointers to the tensors, NULL for None; it keeps them alive."""
    pointers = (ctypes.POINTER(DLTensor) * len(tensors))()
    for i, tensor in enumerate(tensors):
        if tensor is not None:
            pointers[i] = ctypes.pointer(tensor)
    return pointers


def param_of(name: str, value: Any) -> Param:
    """The opproof_param of a Python value. Raises TypeError for one that has no such form."""
    param = Param(name=name.encode(), type=PARAM_NONE)
    match value:
        case None:
            pass
        case bool():
            param.type, param.i = PARAM_BOOL, value
        case int():
            param.type, param.i = PARAM_INT, value
        case float():
            param.type, param.f = PARAM_FLOAT, value
        case str():
            param.type, param.s = PARAM_STRING, value.encode()
        case tuple() | list() if value and all(isinstance(v, str) for v in value):
            param.type, param.s = PARAM_STRING, ",".join(value).encode()
        case tuple() | list():
            _fill_tuple(param, list(_flatten(value)))
        case _:
            raise TypeError(f"parameter {name}={value!r} has no form in opproof.h: {type(value).__name__}.")
    return param


def _fill_tuple(param: Param, numbers: list[Any]) -> None:
    param.count = len(numbers)
    if any(isinstance(n, float) for n in numbers):
        param.type, param.floats = PARAM_FLOATS, (ctypes.c_double * len(numbers))(*numbers)
    else:
        param.type, param.ints = PARAM_INTS, (ctypes.c_int64 * len(numbers))(*numbers)


def _flatten(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, tuple | list):
            yield from _flatten(value)
        else:
            yield value
