"""array_api: any library that follows the Python array API standard, by its module's name; values only.

`-b array_api:array_api_strict`, `-b array_api:cupy`: each operator is the standard's function of that name in the
module, on a device where one stands behind (`-b array_api:array_api_strict@device1`). What the module has not got,
function or dtype, is declined; so a library that keeps a part of the standard is asked for that part. Arrays go in by
`asarray`, and in pieces where the library has such.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from types import ModuleType
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Backend, Unsupported
from opproof.backends.table import find_device, function_of, how_to_install, split_device, supports
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.tuples import tuple_of

#: How a library refuses what the standard leaves open.
DECLINES = (
    "are allowed in",  # array-api-strict: only numeric dtypes are allowed in ...
    "zero-size array",  # to a reduction that has no identity
    "not supported for",  # NumPy's ufuncs, and who calls them
    "implementation defined for",  # dpnp, of float16
    "implementation is available for",
    "min must be less than or equal to max",
    "not allowed on 0-dimensional arrays",  # nonzero
    "does not support zero-dimensional arrays",
    "axis that has a single chunk",  # dask's FFT
    "All chunks must be a square matrix",  # and its linear algebra
    "Dimension must be 2 to perform",
    "shape (nan",  # dask: how many there are depends on the data
    "chunk sizes are unknown",
)
#: Methods by which libraries give a NumPy array of their own: ndonnx, dpnp, CuPy.
TO_NUMPY = ("unwrap_numpy", "asnumpy", "get")


class Namespace:
    """The functions of a module and its submodules; what is not there is declined by name."""

    def __init__(self, module: Any, name: str) -> None:
        self.module, self.name = module, name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.module, name, None)
        if found is None:
            raise Unsupported(f"{self.name} has no {name}")
        return Namespace(found, f"{self.name}.{name}") if isinstance(found, ModuleType) else found


class ArrayApi:
    """The standard's functions in one module, on one of its devices."""

    name = "array_api"
    dtypes = ("i8", "i16", "i32", "u8")

    def __init__(self, module: Any, spec: str, device: Any) -> None:
        from opproof.backends.array_api import functions

        self.compute, self.rounding = precision.load_built_in("array_api", spec)
        self._module, self._library, self._device = module, module.__name__, device
        self._host = None if device is None else module.__array_namespace_info__().default_device()
        self.device, self.version = "cpu" if device is None else str(device), _version_of(module)
        namespace = Namespace(module, self._library)
        self.table: dict[str, Callable[..., Any]] = {
            op: functools.partial(function, namespace) for op, function in functions.TABLE.items()
        }

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return supports(self.table, op, "the array API")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array | None]:
        function = function_of(self.table, op, "the array API")
        with _with_declines(self._library):
            results = tuple_of(function(*map(self._make_tensor, inputs), **params))
            return [to_array(y if self._device is None else y.to_device(self._host)) for y in results]

    def _make_tensor(self, array: Array | None) -> Any:
        if array is None:
            return None
        if not hasattr(self._module, array.dtype.name):
            raise Unsupported(f"{self._library} has no {array.dtype.name}")
        # A copy: a library may otherwise keep the caller's memory, which is guarded and soon gone.
        own = np.array(array, order="K")
        if hasattr(self._module, "from_array"):  # dask's: in two pieces along each axis, as larger ones come
            return self._module.from_array(own, chunks=tuple(max(-(-n // 2), 1) for n in own.shape))
        return self._module.asarray(own, **({} if self._device is None else {"device": self._device}))


def to_array(y: Any) -> Array | None:
    """The NumPy array of a library's own; None for none."""
    if y is None:
        return None
    method = next((getattr(y, name) for name in TO_NUMPY if hasattr(y, name)), None)
    return np.asarray(y if method is None else method())


@contextmanager
def _with_declines(library: str) -> Iterator[None]:
    """What a library says it does not take, as such."""
    try:
        yield
    except (TypeError, ValueError) as error:
        words = " ".join(str(error).split())
        if not any(said in words for said in DECLINES):
            raise
        raise Unsupported(f"{library}: {words}") from None


def list_devices(variant: str = "") -> dict[str, str]:
    """What to write after -b for each device that the module `variant` names. Raises BackendError."""
    name = split_device(variant)[0]
    devices = _devices_of(_import_module(name))
    return {f"array_api:{name}@{device}" if devices else f"array_api:{name}": str(device) for device in devices} or {
        f"array_api:{name}": "cpu"
    }


def create(variant: str = "") -> Backend:
    """The library whose module `variant` names. Raises BackendError for none, or one that is no such library."""
    name, device = split_device(variant)
    module = _import_module(name)
    found = None
    if device is not None:
        devices = _devices_of(module)
        found = devices[find_device(f"array_api:{name}", device, list(devices))]
    if hasattr(module, "from_array"):  # dask: in this thread, as a worker of a run has one processor
        importlib.import_module("dask.config").set(scheduler="synchronous")
    return ArrayApi(module, variant, found)


def _import_module(name: str) -> Any:
    """The module of that name. Raises BackendError where it is not there, or has not the standard's functions."""
    if not name:
        raise BackendError("backend array_api needs the module of a library: write array_api:array_api_strict.")
    try:
        module = importlib.import_module(name)
    except ImportError:
        hint = how_to_install("array_api")
        raise BackendError(
            f"backend array_api:{name} needs the module {name}, which is not installed; install it, or {hint} for "
            "array_api_strict, dask.array and ndonnx."
        ) from None
    if not callable(getattr(module, "asarray", None)):
        raise BackendError(f"the module {name} has no function asarray: give one that follows the array API standard.")
    return module


def _devices_of(module: Any) -> dict[str, Any]:
    """The devices that a namespace names, by what they are called; none where it does not say."""
    info = getattr(module, "__array_namespace_info__", None)
    return {} if info is None else {str(getattr(d, "_device", d)): d for d in info().devices() if d is not None}


def _version_of(module: Any) -> str:
    """That of the distribution which has the module, of a wrapper that which it wraps."""
    package = module.__name__.removeprefix("array_api_compat.").partition(".")[0]
    return next((metadata.version(name) for name in metadata.packages_distributions().get(package, [])), "unknown")
