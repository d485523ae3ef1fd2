"""Empty matrices and batches kill the process: SIGFPE

Ledger: inverse forward, solve_triangular forward, conv2d_depthwise gradient, upsample_bilinear gradient
Expected:
    inv lives
    solve_triangular lives
    gradient of a grouped conv2d lives
"""

import subprocess
import sys

calls = {
    "inv": "mx.linalg.inv(mx.zeros((0, 0)))",
    "solve_triangular": "mx.linalg.solve_triangular(mx.zeros((0, 0)), mx.zeros((0, 3)))",
    "gradient of a grouped conv2d": "mx.vjp(lambda w: mx.conv2d(mx.zeros((0, 3, 3, 2)), w, groups=2), "
    "[mx.zeros((2, 2, 2, 1))], [mx.zeros((0, 2, 2, 2))])",
}
for name, call in calls.items():
    program = f"import mlx.core as mx; mx.set_default_device(mx.cpu); mx.eval({call})"
    status = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True).returncode
    print(name, "lives" if status == 0 else f"dies of signal {-status}")
