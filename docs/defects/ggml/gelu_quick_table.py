"""gelu_quick and geglu_quick of float32 are looked up in a table of float16

x past 65504 is infinite there, results under 2^-24 are 0, all others have three digits. It is another table than
gelu's.

Ledger: gelu_quick forward, geglu_quick forward
Expected:
    gelu_quick(1.2345) 1.09995
    gelu_quick(-14) -6.28e-10
    gelu_quick(-65600) 0
"""

from preamble import computed, ggml, tensor

print(f"gelu_quick(1.2345) {computed(ggml('gelu_quick', tensor([1.2345])))[0]:.5f}")
print(f"gelu_quick(-14) {computed(ggml('gelu_quick', tensor([-14.0])))[0]:.3g}")
print(f"gelu_quick(-65600) {abs(computed(ggml('gelu_quick', tensor([-65600.0])))[0]):.3g}")
