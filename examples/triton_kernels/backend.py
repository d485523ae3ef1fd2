"""Triton kernels under test: on a GPU where there is one, else on the CPU through Triton's interpreter.

opproof run -b examples/triton_kernels/backend.py
"""

import os
import warnings

from triton_device import DEVICE, GPU, VERSION

# isort: split
import gelu_kernels as gelu
import guard_zones
import layer_norm_kernels as layer_norm
import matmul_kernels as matmul
import numpy as np
import rms_norm_kernels as rms_norm
import softmax_kernels as softmax
import torch

name, version, device = "triton_kernels", VERSION, DEVICE
alignment = 1  # any address that fits the dtype: buffers end right at their guard

#: Kernels of each operator.
OPERATORS = {"gelu": gelu, "layer_norm": layer_norm, "matmul": matmul, "rms_norm": rms_norm, "softmax": softmax}

torch.set_num_threads(1)
warnings.filterwarnings("ignore", message="The given NumPy array is not writable")


def supports(op, dtypes, params):
    if op not in OPERATORS:
        return f"there is no kernel for {op}"
    return "f64" not in dtypes or "the kernels compute in float32"


def forward_into(op, inputs, params, outputs):
    _launch(OPERATORS[op].forward, [], inputs, outputs, params)


def vjp_into(op, inputs, params, cotangents, gradients):
    _launch(OPERATORS[op].backward, cotangents, inputs, gradients, params)


def _launch(call, cotangents, inputs, results, params):
    """`call(*cotangents, *inputs, *results, **params)` on tensors where the kernels can reach them."""
    if not GPU:
        with np.errstate(all="ignore"):  # the interpreter's arithmetic is NumPy's
            call(*(None if a is None else guard_zones.over(a) for a in (*cotangents, *inputs, *results)), **params)
        return
    placed = [
        None if a is None else guard_zones.zoned(f"{kind} {i}", a, "cuda", written=kind == "result")
        for kind, group in (("cotangent", cotangents), ("input", inputs), ("result", results))
        for i, a in enumerate(group)
    ]
    call(*(None if z is None else z.tensor for z in placed), **params)
    _synchronise()
    for z in placed:
        if z is not None:
            guard_zones.check(z)
            if z.before is None:
                z.host.copy_(z.tensor)


def _synchronise():
    """Wait for the kernels. After a fault this process can use the GPU no more, so it ends: a case's CRASH."""
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        print(error, flush=True)
        os.abort()
