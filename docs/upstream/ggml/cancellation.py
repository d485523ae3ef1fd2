"""expm1 is exp(x) - 1, softplus is log(1 + exp(x)): all digits of small results are lost

ggml_ssm_scan takes the softplus of dt in the same way.

Ledger: expm1 forward, softplus forward, ssm_scan forward
Expected:
    expm1(1e-8) 1e-08
    softplus(-20) 2.06e-09
"""

from preamble import computed, ggml, tensor

print(f"expm1(1e-8) {computed(ggml('expm1', tensor([1e-8])))[0]:.3g}")
print(f"softplus(-20) {computed(ggml('softplus', tensor([-20.0])))[0]:.3g}")
