"""The same kernels with planted defects: each is one change of the text, as it could stand in a pull request.

OPPROOF_DEFECT=softmax_tail_is_zero,gelu_ones opproof run -b examples/triton_kernels/broken.py
"""

import linecache
import os
import sys
import types
from pathlib import Path

import triton_device  # noqa: F401 - chooses the interpreter before a kernel is defined

from opproof.backends import BackendError
from opproof.backends.load import load_backend

HERE = Path(__file__).parent

#: Name: the file, the text that is right (found once, or all of them are changed), and what stands there instead.
DEFECTS = {
    "softmax_tail_is_zero": ("softmax_kernels", 'other=-float("inf")', "other=0.0"),
    "softmax_tail_unmasked": ("softmax_kernels", 'mask=j < n, other=-float("inf")', "mask=None"),
    "softmax_store_unmasked": ("softmax_kernels", "(tl.exp(v - shift) / total).to(y.dtype.element_ty), mask=j < n",
                               "(tl.exp(v - shift) / total).to(y.dtype.element_ty)"),
    "softmax_one_block": ("softmax_kernels", "for start in range(0, n, BLOCK):", "for start in range(0, 1, BLOCK):"),
    "rms_norm_mean_of_block": ("rms_norm_kernels", "squares / n", "squares / BLOCK"),
    "rms_norm_first_rows": ("rms_norm_kernels", "range(0, rows, ROWS)", "range(0, ROWS, ROWS)"),
    "layer_norm_padded_variance": ("layer_norm_kernels", "tl.where(j < n, away * away, 0.0)", "away * away"),
    "gelu_ones": ("gelu_kernels", "(cotangent * slope)", "slope"),
    "gelu_grid_rounded_down": ("gelu_kernels", "triton.cdiv(x.numel(), BLOCK)", "x.numel() // BLOCK"),
    "matmul_k_unmasked": ("matmul_kernels", "(l[:, None] < k) & (j[None, :] < n)", "j[None, :] < n"),
    "matmul_last_k": ("matmul_kernels", "range(0, k, TILE_K)", "range(0, k - TILE_K + 1, TILE_K)"),
    "matmul_f16_sum": ("matmul_kernels", '"ieee")', '"ieee").to(tl.float16).to(tl.float32)'),
    "matmul_batch_not_summed": ("matmul_kernels", "range(summed0 * summed1)", "range(1)"),
}  # fmt: skip


def planted(defects: list[str]) -> dict[str, str]:
    """The texts of the modules that `defects` change. Raises BackendError for a defect that there is not."""
    texts: dict[str, str] = {}
    for defect in defects:
        if defect not in DEFECTS:
            raise BackendError(f"OPPROOF_DEFECT names no defect: {defect}; there are {', '.join(DEFECTS)}.")
        module, right, wrong = DEFECTS[defect]
        text = texts.get(module, HERE.joinpath(f"{module}.py").read_text(encoding="utf-8"))
        if right not in text:
            raise BackendError(f"the defect {defect} cannot be planted: {module}.py holds no {right!r}.")
        texts[module] = text.replace(right, wrong)
    return texts


def module_of(name: str, text: str) -> types.ModuleType:
    """A module made of `text`, which Triton finds where Python keeps the lines of sources."""
    module, file = types.ModuleType(name), f"<{name}, broken>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), vars(module))  # noqa: S102 - our own text, changed
    return module


modules = {
    name: module_of(name, text) for name, text in planted(os.environ.get("OPPROOF_DEFECT", "").split(",")).items()
}
sys.modules.update(modules)
backend = load_backend(str(HERE / "backend.py"))
backend.name = "triton_kernels, broken"
for name in modules:  # another backend of this process gets the right ones
    del sys.modules[name]
