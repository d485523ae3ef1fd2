"""openvino: OpenVINO's plugin for one device, fed with the models of backends/onnx; values only.

`-b openvino` sets the hint INFERENCE_PRECISION_HINT to f32, so that a model of float32 is computed in it on every CPU;
`-b openvino:default` leaves the choice to OpenVINO, which takes bfloat16 where the CPU has instructions for it, and
`-b openvino:bf16` asks for that. `-b openvino@GPU` computes on another device than the CPU. The last model is kept,
since a case is called three times in a row. One thread unless it is told. OpenVINO computes no gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.capabilities import select_possible
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import check_variant, find_device, import_library, split_device, supports
from opproof.core.arrays import Array

#: Its own kernels read one variable and its oneDNN the other: both have to say the same, or kernels find none to follow
#: (openvino pull request 36980). SSE4, which release 2026.0 has given up, is not tried.
CAPABILITIES = {
    name: {"OV_CPU_MAX_ISA": isa, "ONEDNN_MAX_CPU_ISA": isa}
    for name, isa in (("avx2", "AVX2"), ("avx512", "AVX512_CORE"), ("avx512_bf16", "AVX512_CORE_BF16"))
}

#: What OpenVINO says where its ONNX frontend does not know an operator or its CPU plugin has no kernel.
DECLINES = (
    "No conversion rule found",
    "Unsupported operation of type",
    "Unsupported padding mode",
    "Not implemented",
    "is not supported",
)

#: Operators that backends/onnx writes and OpenVINO is not asked for yet: nobody has looked at what it makes of them.
NOT_ASKED = """
    affine_grid bernoulli bitcast branch compress constant gather_nd hardmax log_sum loop lp_pool2d max_unpool2d
    mel_weight_matrix multinomial nms numel random_normal random_uniform rnn_cell roi_pool scan shape sum_square
"""


class OpenVino:
    """Models of one operator, compiled by OpenVINO's plugin for one device."""

    name = "openvino"

    def __init__(self, openvino: Any, variant: str, device: str = "CPU") -> None:
        from opproof.backends.onnx import model

        known, later = model.load_tables(), NOT_ASKED.split()
        self._ov, self._models = openvino, model
        self.table = {name: entry for name, entry in known.items() if name not in later}
        del self.table["dropout"]  # it is taken out of a model, with its input where nothing is left
        self.version = str(openvino.__version__)
        self._core = openvino.Core()
        self.device, self._device = device.lower(), device
        self.capabilities = select_possible(CAPABILITIES) if device == "CPU" else {}
        self.compute, self.rounding = precision.load_built_in("openvino", variant)
        self._config: dict[str, Any] = {"NUM_STREAMS": 1}
        if device == "CPU":
            self._config["INFERENCE_NUM_THREADS"] = 1
        if variant != "default":
            self._config["INFERENCE_PRECISION_HINT"] = variant or "f32"
        self._last: tuple[str, Any] | None = None

    def set_threads(self, count: int) -> None:
        """Compute with `count` threads from now on."""
        if count != self._config.get("INFERENCE_NUM_THREADS", count):
            self._config["INFERENCE_NUM_THREADS"], self._last = count, None

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return supports(self.table, op, "ONNX")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        with _with_declines():
            request = self._request(op, inputs, params)
            given = {f"x{i}": np.ascontiguousarray(x).reshape(x.shape) for i, x in enumerate(inputs) if x is not None}
            for name, x in given.items():
                request.set_tensor(name, self._tensor(x))  # which is over x's memory: `given` outlives the call
            request.infer()
            return [self._numpy(request.get_output_tensor(i)) for i in range(len(request.model_outputs))]

    def _request(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> Any:
        key = self._models.key_of(op, inputs, params)
        if self._last is None or self._last[0] != key:
            self._last = None
            model = self._core.read_model(self._models.build(self.table, op, inputs, params))
            compiled = self._core.compile_model(model, self._device, self._config)
            self._last = (key, compiled.create_infer_request())
        return self._last[1]

    def _tensor(self, array: Array) -> Any:
        if short_name_of(array.dtype) == "bf16":
            return self._ov.Tensor(array.view(np.uint16), self._ov.Shape(array.shape), self._ov.Type.bf16)
        return self._ov.Tensor(array, shared_memory=True)

    def _numpy(self, y: Any) -> Array:
        if y.element_type == self._ov.Type.bf16:
            import ml_dtypes

            return np.array(y.data.view(ml_dtypes.bfloat16))
        return np.array(y.data)


@contextmanager
def _with_declines() -> Iterator[None]:
    """Refusals in OpenVINO's words, without the places in its sources."""
    try:
        yield
    except RuntimeError as error:
        lines = [line for line in str(error).splitlines() if any(words in line for words in DECLINES)]
        if not lines:
            raise
        raise Unsupported(f"OpenVINO: {lines[0].strip()}") from None


def list_devices(_: str = "") -> dict[str, str]:
    """What to write after -b for each device that OpenVINO finds, and what it is."""
    core = import_library("openvino", "openvino", "openvino").Core()
    return {f"openvino@{name}": str(core.get_property(name, "FULL_DEVICE_NAME")) for name in core.available_devices}


def create(variant: str = "") -> Backend:
    """OpenVINO in f32 (""), in bf16, or as it chooses, on the CPU or the device after the "@".

    Raises BackendError where it or onnx is not installed, or it finds no such device.
    """
    plain, device = split_device(variant)
    check_variant("openvino", plain, "default", "bf16")
    import_library("onnx", "openvino", "onnx")  # the models are made with it
    openvino = import_library("openvino", "openvino", "openvino")
    if device is None:
        return OpenVino(openvino, plain)
    return OpenVino(
        openvino, plain, find_device("openvino", device, [spec.partition("@")[2] for spec in list_devices()])
    )
