"""onnxruntime: ONNX Runtime, each operator as a model of ONNX's own operator; values only.

`-b onnxruntime` takes the CPU provider, `-b onnxruntime@CUDA` another one, which may leave nothing to the CPU's: what
it has no kernel for is declined. ONNX Runtime's CPU build computes no gradients: in gradient mode every case is
UNSUPPORTED. A model is made and optimised for each operator, shapes, dtypes and parameters, with the default
optimisations, and one thread unless it is told another number; the last session is kept, since a case is called three
times in a row. Inputs are read where they lie if they are laid out row by row; other layouts are copied on the way in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import check_variant, find_device, import_library, join_tables, split_device, supports
from opproof.core.arrays import Array
from opproof.core.dtypes import DECLARED

PROVIDER = "ExecutionProvider"  # how the names of all providers end

#: What ONNX Runtime says where it has no kernel.
DECLINES = (
    "fallback to CPU EP has been explicitly disabled",  # of another provider,
    "Could not find an implementation",
    "Failed to find kernel",
    "data type is not supported",
    "does not support double",
    "Non per-tensor quantization is not supported now",  # ConvInteger's weights
    "NumDimensions() == 4 was false",  # LRN, of images only,
    "size_ % 2 == 1 was false",  # of windows with a middle,
    "beta_ > 0.0f was false",  # that divides,
    "requires axis length >= 2 after slicing",  # of reflection, which PyTorch takes from before
    "Pad should be smaller than kernel",  # of pooling, however far apart the kernel's cells are
)
#: Our names of types of 8 bits, which come and go as bytes, by ONNX Runtime's.
BYTES = {"tensor(int8)": "i8", "tensor(float8e4m3fn)": "f8e4m3", "tensor(float8e5m2)": "f8e5m2"}
#: Operators whose sessions draw on from call to call: each call has one of its own.
DRAWS = frozenset({"dropout", "random_uniform", "random_normal", "bernoulli", "multinomial"})


class OnnxRuntime:
    """Models of one operator, run by one provider of ONNX Runtime."""

    name = "onnxruntime"
    dtypes = DECLARED

    def __init__(self, ort: Any, provider: str = "CPU") -> None:
        from opproof.backends.onnx import integers, model, quantised

        self._ort, self._models, self.table = ort, model, {**model.load_tables(), **join_tables(quantised, integers)}
        self.compute, self.rounding = precision.load_built_in("onnxruntime")
        self.version = str(ort.__version__)
        self._options = ort.SessionOptions()
        self._options.intra_op_num_threads = self._options.inter_op_num_threads = 1
        self._options.log_severity_level = 4  # an error is raised as well as logged
        self.device, self._provider = provider.lower(), f"{provider}{PROVIDER}"
        if provider != "CPU":
            self._options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        self._last: tuple[str, Any] | None = None

    def set_threads(self, count: int) -> None:
        """Compute with `count` threads from now on."""
        if count != self._options.intra_op_num_threads:
            self._options.intra_op_num_threads, self._last = count, None

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return supports(self.table, op, "ONNX")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        with _with_declines():
            session = self._session(op, inputs, params)
            kinds = {i.name: i.type for i in session.get_inputs()}
            given = {f"x{i}": self._value(x, kinds.get(f"x{i}")) for i, x in enumerate(inputs) if x is not None}
            own = {short_name_of(x.dtype): x.dtype for x in inputs if x is not None}
            return [_to_numpy(y, own) for y in session.run_with_ort_values(None, given)]

    def _session(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> Any:
        key = self._models.key_of(op, inputs, params)
        if self._last is None or self._last[0] != key or op in DRAWS:
            self._last = None
            model = self._models.build(self.table, op, inputs, params)
            self._last = (key, self._ort.InferenceSession(model, self._options, providers=[self._provider]))
        return self._last[1]

    def _value(self, array: Array, kind: str | None) -> Any:
        """`array` as the model's input of the type `kind`, in ONNX Runtime's words."""
        row_major = np.ascontiguousarray(array).reshape(array.shape)
        if kind in BYTES:
            element = self._models.ELEMENTS[BYTES[kind]]
            return self._ort.OrtValue.ortvalue_from_numpy_with_onnx_type(row_major, element)
        if short_name_of(array.dtype) == "bf16":
            element = self._models.ELEMENTS["bf16"]
            return self._ort.OrtValue.ortvalue_from_numpy_with_onnx_type(row_major.view(np.uint16), element)
        return self._ort.OrtValue.ortvalue_from_numpy(row_major)


@contextmanager
def _with_declines() -> Iterator[None]:
    """Refusals in ONNX Runtime's words, without the code before them."""
    try:
        yield
    except Exception as error:
        if not any(words in str(error) for words in DECLINES):
            raise
        words = " ".join(str(error).split())
        for place in ("Status Message: ", " : ", "[with T = float] ", "was false. "):
            words = words.rpartition(place)[2]
        raise Unsupported(f"ONNX Runtime: {words}") from None


def list_devices(_: str = "") -> dict[str, str]:
    """What to write after -b for each provider of this build of ONNX Runtime."""
    ort = import_library("onnxruntime", "onnxruntime", "onnxruntime")
    names = [name.removesuffix(PROVIDER) for name in ort.get_available_providers()]
    return {f"onnxruntime@{name}": f"{name}{PROVIDER}" for name in names}


def create(variant: str = "") -> Backend:
    """ONNX Runtime's CPU provider, or the one after the "@". Raises BackendError where it or onnx is not installed."""
    plain, provider = split_device(variant)
    check_variant("onnxruntime", plain)
    import_library("onnx", "onnxruntime", "onnx")  # the models are made with it
    ort = import_library("onnxruntime", "onnxruntime", "onnxruntime")
    if provider is None:
        return OnnxRuntime(ort)
    names = [spec.partition("@")[2] for spec in list_devices()]
    return OnnxRuntime(ort, find_device("onnxruntime", provider.removesuffix(PROVIDER), names))


def _to_numpy(y: Any, own: Mapping[str, np.dtype[Any]]) -> Array:
    """A copy of a result; NumPy has no bfloat16 of its own, so its bytes are read where they lie.

    Those of BYTES are numbers where the inputs have such ones, `own`, and codes elsewhere.
    """
    kind = y.data_type()
    if kind not in (*BYTES, "tensor(bfloat16)"):
        return np.array(y.numpy())
    import ctypes

    import ml_dtypes

    dtype = own.get(BYTES[kind], np.dtype(np.uint8)) if kind in BYTES else np.dtype(ml_dtypes.bfloat16)
    found = np.empty(y.shape(), dtype)
    ctypes.memmove(found.ctypes.data, y.data_ptr(), found.nbytes)
    return found
