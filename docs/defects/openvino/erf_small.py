"""Erf is a fit for absolute error: 0 near 0

Ledger: erf forward
Upstream: https://github.com/openvinotoolkit/openvino/issues/35936
Expected: 1.1284
"""

from preamble import f32, run

print(f"{run('Erf', [f32(*16 * [1e-5])])[0][0] / 1e-5:.4f}")
