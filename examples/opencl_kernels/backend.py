"""OpenCL kernels under test, on a GPU or, through PoCL, on any CPU.

opproof run -b examples/opencl_kernels/backend.py
"""

import launches
from device_memory import fetch, place
from launches import Tensor
from opencl_device import DEVICE, QUEUE, SOURCE, program

name, version, device = "opencl_kernels", DEVICE.version, DEVICE.name.strip()
source = SOURCE.read_text(encoding="utf-8")

#: How each operator is launched.
OPERATORS = {
    "gelu": (launches.gelu_forward, launches.gelu_backward),
    "matmul": (launches.matmul_forward, launches.matmul_backward),
    "rms_norm": (launches.rms_norm_forward, launches.rms_norm_backward),
    "softmax": (launches.softmax_forward, launches.softmax_backward),
}


def supports(op, dtypes, params):
    if op not in OPERATORS:
        return f"there is no kernel for {op}"
    return "f64" not in dtypes or "the kernels compute in float32"


def forward_into(op, inputs, params, outputs):
    forward, _ = OPERATORS[op]
    _call(forward, {"input": inputs, "output": outputs}, params)


def vjp_into(op, inputs, params, cotangents, gradients):
    _, backward = OPERATORS[op]
    _call(backward, {"cotangent": cotangents, "input": inputs, "gradient": gradients}, params)


def _call(launch, groups, params):
    """Call `launch` with the arrays of `groups` on the device, None for those that are absent."""
    placed, tensors = [], []
    for kind, arrays in groups.items():
        for i, array in enumerate(arrays):
            if array is None:
                tensors.append(None)
                continue
            placed.append(place(QUEUE, f"{kind} {i}", array, written=kind in ("output", "gradient")))
            strides = tuple(s // array.itemsize for s in array.strides)
            tensors.append(Tensor(placed[-1].data, array.shape, strides))
    launch(program(placed[0].host.dtype.name, source), *tensors, **params)
    QUEUE.finish()
    for p in placed:
        fetch(QUEUE, p)
