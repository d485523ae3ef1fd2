"""The device that kernels run on, and the launch of one."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from opproof.backends import BackendError

try:
    import pyopencl as cl
except ImportError:
    raise BackendError("the OpenCL kernels need pyopencl, which is not installed; pip install pyopencl.") from None

SOURCE = Path(__file__).with_name("kernels.cl")
TYPES = {"float32": "TYPE_F32", "float16": "TYPE_F16", "bfloat16": "TYPE_BF16"}


def first_device() -> cl.Device:
    """A GPU where there is one, else any device. Raises BackendError where there is none."""
    try:
        found = [d for platform in cl.get_platforms() for d in platform.get_devices()]
    except cl.Error:  # the loader's way to say that no driver is installed
        found = []
    if not found:
        raise BackendError(
            "there is no OpenCL device: install a driver, such as Debian's pocl-opencl-icd, which runs on any CPU."
        )
    return min(found, key=lambda d: not d.type & cl.device_type.GPU)


DEVICE = first_device()
QUEUE = cl.CommandQueue(cl.Context([DEVICE]))


@cache
def program(dtype: str, source: str) -> cl.Program:
    """The kernels for elements of `dtype`."""
    return cl.Program(QUEUE.context, source).build([f"-D{TYPES[dtype]}", "-cl-std=CL1.2"])


def launch(kernel: cl.Kernel, items: Sequence[int], group: Sequence[int], *arguments: object) -> None:
    """Run `kernel` on at least `items` work-items per axis, in groups. Python numbers become long, tuples vectors."""
    rounded = [-(-n // g) * g for n, g in zip(items, group, strict=True)]
    if all(rounded):
        kernel(QUEUE, rounded, list(group), *map(_argument, arguments))


def _argument(value: object) -> object:
    if isinstance(value, bool):
        return np.int32(value)
    if isinstance(value, int):
        return np.int64(value)
    if isinstance(value, float):
        return np.float32(value)
    if isinstance(value, tuple):
        return getattr(cl.cltypes, f"make_long{len(value)}")(*value)
    return value
