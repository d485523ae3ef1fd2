"""Where the kernels run: on a GPU where there is one, else in Triton's interpreter on the CPU.

Triton reads TRITON_INTERPRET when a kernel is defined, so this module is imported before any kernel.
"""

import os

from opproof.backends import BackendError

try:
    import torch
except ImportError:
    raise BackendError("the Triton kernels need PyTorch, which is not installed; pip install torch triton.") from None

GPU = torch.cuda.is_available()  # ROCm's PyTorch answers so for AMD's GPUs too
if not GPU:
    os.environ["TRITON_INTERPRET"] = "1"
try:
    import triton
except ImportError:
    raise BackendError("the Triton kernels need Triton, which is not installed; pip install triton.") from None

VERSION = f"Triton {triton.__version__}"
DEVICE = torch.cuda.get_device_name() if GPU else "cpu, interpreted"
