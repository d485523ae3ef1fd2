"""Compile every kernel for a GPU that is not there, as each operator would launch it.

python compile_for.py cuda:90 float32 bfloat16        (also cuda:80, hip:gfx942, ...)
"""

import sys
from types import SimpleNamespace

import gelu_kernels
import layer_norm_kernels
import matmul_kernels
import rms_norm_kernels
import softmax_kernels
import torch
from triton import JITFunction
from triton.backends.compiler import GPUTarget
from triton.runtime import driver


def calls(dtype):
    """Each operator's kernels, called once: odd sizes, a size of 1, strided, broadcast."""
    x = torch.ones(3, 1, 70, 2, dtype=dtype)[..., 0].mT  # (3, 70, 1)
    w, y = torch.ones(33, dtype=dtype), torch.ones(7, 33, dtype=dtype)
    for approximate in ("none", "tanh"):
        gelu_kernels.forward(x, torch.empty_like(x), approximate=approximate)
        gelu_kernels.backward(x, x, torch.empty_like(x), approximate=approximate)
    softmax_kernels.backward(x, x, torch.empty_like(x), dim=1)
    softmax_kernels.backward(y, y, y, dim=-1)
    for weight in (w, None):
        rms_norm_kernels.backward(y, y, weight, y, weight, eps=1e-6)
        layer_norm_kernels.backward(y, y, weight, weight, y, weight, weight, normalized_shape=(33,), eps=1e-5)
    a, b, c = (torch.ones(s, dtype=dtype) for s in ((2, 1, 4, 7), (3, 7, 2), (2, 3, 4, 2)))
    matmul_kernels.forward(a, b, c)
    matmul_kernels.backward(c, a, b, torch.empty_like(a), torch.empty_like(b))


def main(target, *dtypes):
    backend, _, arch = target.partition(":")
    gpu = GPUTarget("cuda", int(arch), 32) if backend == "cuda" else GPUTarget("hip", arch, 64)
    current = {"get_current_target": lambda: gpu, "get_current_device": lambda: 0, "get_current_stream": lambda _: 0}
    driver.set_active(SimpleNamespace(**current))
    compiled = set()

    def compile_only(kernel, grid):
        def launch(*args):
            made = kernel.warmup(*args, grid=grid)
            compiled.add((kernel.__name__, made.hash))

        return launch

    JITFunction.__getitem__ = compile_only
    for dtype in dtypes:
        calls(getattr(torch, dtype))
    print(f"{len({name for name, _ in compiled})} kernels compiled for {target}, {len(compiled)} variants")


if __name__ == "__main__":
    main(*sys.argv[1:])
