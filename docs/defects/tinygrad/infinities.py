"""Infinite arguments give NaN where the limit is a number

hardswish and hardsigmoid subtract two relus, mish takes tanh of softplus, fmod and mod are a - b trunc(a / b).

Ledger: hardswish forward, hardsigmoid forward, mish forward, logsumexp forward, fmod forward, remainder
    forward, pow forward, bce_with_logits forward
Expected:
    hardswish(inf) inf
    hardsigmoid(inf) 1.0
    mish(inf) inf
    logsumexp(inf, 0) inf
    fmod(1, inf) 1.0
    mod(1, inf) 1.0
    (-2) ** inf inf
    bce(inf, 1) 0.0
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

inf, one = Tensor([float("inf")]), Tensor([1.0])
for name in ("hardswish", "hardsigmoid", "mish"):
    print(f"{name}(inf)", getattr(inf, name)().item())
print("logsumexp(inf, 0)", Tensor([float("inf"), 0.0]).logsumexp().item())
print("fmod(1, inf)", one.fmod(inf).item())
print("mod(1, inf)", one.mod(inf).item())
print("(-2) ** inf", Tensor([-2.0]).pow(inf).item())
print("bce(inf, 1)", inf.binary_crossentropy_logits(one).item())
