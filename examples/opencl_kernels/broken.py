"""The same kernels with planted defects: each is one change of kernels.cl, as it could stand in a pull request.

OPPROOF_DEFECT=gelu_unbounded,softmax_no_maximum opproof run -b examples/opencl_kernels/broken.py
"""

import os
from pathlib import Path

from opproof.backends import BackendError
from opproof.backends.load import load_backend

#: Name: the text that is right, in all its places, and what stands there instead.
DEFECTS = {
    "gelu_unbounded": ("if (i >= count) return;", ""),
    "gelu_ones": ("LOAD(g, element(i, n, g_stride)) * slope", "slope"),
    "gelu_row_major": ("LOAD(x, element(i, n, x_stride))", "LOAD(x, i)"),
    "softmax_no_maximum": ("highest = group_max(highest, scratch);", "highest = 0;"),
    "softmax_one_element": ("j += GROUP)\n    STORE(y, j * y_stride.s3, exp(",
                            "j += n.s3)\n    STORE(y, j * y_stride.s3, exp("),
    "softmax_before_row": ("STORE(y, j * y_stride.s3, exp(", "STORE(y, (j - 1) * y_stride.s3, exp("),
    "sum_no_barrier": ("barrier(CLK_LOCAL_MEM_FENCE);\n    if (me < half_way) scratch[me] +=",
                       "if (me < half_way) scratch[me] +="),
    "rms_norm_mean_of_group": ("/ n.s3 + eps", "/ GROUP + eps"),
    "rms_norm_eps_outside": ("sqrt(group_sum(squares, scratch) / n.s3 + eps)",
                             "(sqrt(group_sum(squares, scratch) / n.s3) + eps)"),
    "rms_norm_in_place": ("LOAD(x, j * x_stride.s3) * scale * (weighted",
                          "(((global elem *)x)[j * x_stride.s3] *= scale) * (weighted"),
    "matmul_whole_tiles": ("start < k;", "start + TILE <= k;"),
    "matmul_unbounded": ("if (i < m && j < n) STORE", "STORE"),
}  # fmt: skip

backend = load_backend(str(Path(__file__).with_name("backend.py")))
backend.name = "opencl_kernels, broken"
for defect in os.environ.get("OPPROOF_DEFECT", "").split(","):
    if defect not in DEFECTS:
        raise BackendError(f"OPPROOF_DEFECT names no defect: {defect}; there are {', '.join(DEFECTS)}.")
    right, wrong = DEFECTS[defect]
    if right not in backend.source:
        raise BackendError(f"the defect {defect} cannot be planted: kernels.cl holds no {right!r}.")
    backend.source = backend.source.replace(right, wrong)
