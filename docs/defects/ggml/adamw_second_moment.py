"""ggml_opt_step_adamw takes 1 - beta2 in float32: the second moment is 1.3e-5 off

Ledger: opt_step_adamw forward
Expected: 1.0000000e-03
"""

from preamble import computed, ggml, parameter, read, tensor

second = tensor([0.0])
how = tensor([0.001, 0.9, 0.999, 1e-8, 0.0, 10.0, 1000.0])
computed(ggml("opt_step_adamw", parameter([0.0]), tensor([1.0]), tensor([0.0]), second, how))
print(f"{read(second)[0]:.7e}")
