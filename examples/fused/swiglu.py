"""SwiGLU's elementwise half in C: the forward is a symbol of the library, the gradient another, called by a vjp.

Broken: the gradient forgets that the sigmoid has a derivative of its own.
"""

import c_library
import torch
from torch.nn import functional


def reference(gate, up):
    return functional.silu(gate) * up


inputs = [(6, 33), (6, 33)]
right = f"c:{c_library.path()}:swiglu"
broken = right


def right_vjp(g, gate, up, forgets=False):
    dgate, dup = torch.empty_like(g), torch.empty_like(g)
    c_library.call("swiglu_gradient", g, gate, up, dgate, dup, g.numel(), forgets)
    return dgate, dup


def broken_vjp(g, gate, up):
    return right_vjp(g, gate, up, forgets=True)
