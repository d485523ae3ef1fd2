"""How long the library takes: its import, an operator by its name, a fused block of 2²⁰ elements with gradients.

    python benchmarks/check.py

Seconds of this process's processors, and by the clock, which other work on the machine stretches.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import opproof


def my_softmax(x: Any, *, dim: int) -> Any:
    """Softmax as one writes it, in float32 within."""
    wide = x if x.element_size() > 2 else x.float()
    e = (wide - wide.detach().amax(dim, keepdim=True)).exp()
    return (e / e.sum(dim, keepdim=True)).to(x.dtype)


def block(x: Any, residual: Any, weight: Any, bias: Any) -> Any:
    """Residual, RMS norm, bias, gelu."""
    import torch

    h = x + residual
    return torch.nn.functional.gelu(h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6) * weight + bias), h


def fused(x: Any, residual: Any, weight: Any, bias: Any) -> Any:
    """The same in another order."""
    import torch

    h = residual + x
    z = h / torch.sqrt((h * h).sum(-1, keepdim=True) / h.shape[-1] + 1e-6)
    z = torch.addcmul(bias, z, weight)
    return 0.5 * z * (1 + torch.erf(z * 0.5**0.5)), h


def timed(name: str, limit: float, call: Callable[[], Any]) -> None:
    """Print how long `call` takes beside its limit, and what it found."""
    processor, clock = time.process_time(), time.perf_counter()
    report = call()
    spent, passed = time.process_time() - processor, time.perf_counter() - clock
    print(f"{name}: {spent:.1f} s of processors, {passed:.1f} s by the clock (limit {limit:g} s): {report.sentence}")


def main() -> None:
    """All three."""
    code = "import time; t = time.process_time(); import opproof; print(time.process_time() - t)"
    spent = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))
    print(f"import opproof: {spent:.3f} s of processors (limit 0.15 s)")
    import torch

    torch.set_num_threads(1)  # more would wait for one another where the machine is busy
    shapes = [(1024, 1024), (1024, 1024), (1024,), (1024,)]
    timed("check(my_softmax, 'softmax')", 5, lambda: opproof.check(my_softmax, "softmax", seconds=600, raises=False))
    timed(
        "check(fused, like=block), 2^20 elements", 20,
        lambda: opproof.check(fused, like=block, inputs=shapes, raises=False, neighbours=False),
    )  # fmt: skip


if __name__ == "__main__":
    main()
