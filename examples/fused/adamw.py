"""A step of AdamW through torch.compile: parameters in bf16, moments in float32, updated in place.

Broken: the decay of weights is taken of the step's size too, as in Adam with L2.
"""

import torch

RATE, DECAY, EPS, BETAS, STEP = 0.01, 0.1, 1e-8, (0.9, 0.95), 3


def reference(p, g, m, v):
    w, g = p.to(m.dtype), g.to(m.dtype)
    m.mul_(BETAS[0]).add_((1 - BETAS[0]) * g)
    v.mul_(BETAS[1]).add_((1 - BETAS[1]) * g * g)
    size = (v / (1 - BETAS[1] ** STEP)).sqrt() + EPS
    p.copy_(w - RATE * (m / (1 - BETAS[0] ** STEP) / size + DECAY * w))


def inputs(seed):
    p, g = torch.randn(2, 6, 9).bfloat16()
    return [p, g, torch.randn(6, 9), torch.rand(6, 9) + 0.5]


# aot_eager traces and fuses nothing, and needs no compiler; leave it out for the kernel that you would run.
@torch.compile(backend="aot_eager", dynamic=False)
def right(p, g, m, v):
    w, g = p.float(), g.float()
    m.lerp_(g, 1 - BETAS[0])
    v.lerp_(g.square(), 1 - BETAS[1])
    w = w * (1 - RATE * DECAY)
    p.copy_(w.addcdiv(m, (v / (1 - BETAS[1] ** STEP)).sqrt() + EPS, value=-RATE / (1 - BETAS[0] ** STEP)))


@torch.compile(backend="aot_eager", dynamic=False)
def broken(p, g, m, v):
    w, g = p.float(), g.float()
    g = g + DECAY * w
    m.lerp_(g, 1 - BETAS[0])
    v.lerp_(g.square(), 1 - BETAS[1])
    p.copy_(w.addcdiv(m, (v / (1 - BETAS[1] ** STEP)).sqrt() + EPS, value=-RATE / (1 - BETAS[0] ** STEP)))
