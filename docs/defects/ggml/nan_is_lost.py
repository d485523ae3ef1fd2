"""NaN becomes a bound, 0, or the other operand in the activations of the CPU backend

They ask x > 0, or call fminf and fmaxf. l2_norm divides a row with a NaN by eps.

Ledger: clamp forward, hardtanh forward, relu6 forward, relu forward, leaky_relu forward, hardsigmoid forward,
    reglu forward, geglu forward, l2_norm forward
Expected:
    relu nan
    hardsigmoid nan
    leaky_relu nan
    clamp nan
    reglu nan
    geglu nan
    l2_norm nan
"""

from preamble import computed, ggml, tensor

nan = float("nan")
x = tensor([[nan]])
print("relu", computed(ggml("relu", x))[0])
print("hardsigmoid", computed(ggml("hardsigmoid", x))[0])
print("leaky_relu", computed(ggml("leaky_relu", x, 0.5, False))[0])
print("clamp", computed(ggml("clamp", tensor([[nan]]), 0.5, 2.0))[0])
print("reglu", computed(ggml("reglu", tensor([[nan, 1.0]])))[0])
print("geglu", computed(ggml("geglu", tensor([[-11.0, nan]])))[0])
print("l2_norm", computed(ggml("l2_norm", tensor([[1.0, nan]]), 1e-6))[0])
