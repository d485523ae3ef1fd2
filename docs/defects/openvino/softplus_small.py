"""Softplus is log(1 + exp(x)): all digits of small results are lost

Ledger: softplus forward
Upstream: https://github.com/openvinotoolkit/openvino/issues/35931
Expected: 1.1254e-07
"""

from preamble import f32, run

print(f"{run('Softplus', [f32(*16 * [-16.0])])[0][0]:.4e}")
