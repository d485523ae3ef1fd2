"""A quantised conv2d kills the process where windows of one column lie on padding alone: SIGSEGV

With a stride and a dilation of 2, windows over an image one column wide lie at -1 and 1, both padding. With weights
whose zero point is 0 the kernel of oneDNN dies there; with another it answers.

Ledger: qlinear_conv forward
Expected:
    zero point 3 lives
    zero point 0 lives
"""

import subprocess
import sys

PROGRAM = """
import torch
codes = torch.ones(16, 2, 2, 1, dtype=torch.int8)
weight = torch._make_per_tensor_quantized_tensor(codes, 0.5, ZERO_POINT)
x = torch._make_per_tensor_quantized_tensor(torch.ones(1, 2, 10, 1, dtype=torch.uint8), 0.5, 6)
layer = torch.ops.quantized.conv2d_prepack(weight, None, [1, 2], [1, 1], [1, 2], 1)
torch.ops.quantized.conv2d(x, layer, 1.0, 3)
"""
for zero_point in (3, 0):
    program = PROGRAM.replace("ZERO_POINT", str(zero_point))
    command = [sys.executable, "-W", "ignore", "-c", program]
    status = subprocess.run(command, check=False, capture_output=True).returncode
    print("zero point", zero_point, "lives" if status == 0 else f"dies of signal {-status}")
