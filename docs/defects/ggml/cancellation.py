"""softplus is log(1 + exp(x)): all digits of small results are lost

ggml_ssm_scan takes the softplus of dt in the same way.

Ledger: softplus forward, ssm_scan forward
Expected: 2.06e-09
"""

from preamble import computed, ggml, tensor

print(f"{computed(ggml('softplus', tensor([-20.0])))[0]:.3g}")
