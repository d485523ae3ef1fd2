"""Recurrences and linear attention of fla-core: each a loop over tokens as its reference.

Axes are batch, token, head, width, unless something else is said.
"""

import math

import torch
from kernel import published

F = torch.nn.functional
DEFINITION = "its definition, a loop over tokens; float64 agrees"
WITHOUT_BACKWARD = "its definition; float64 agrees; it is a step of others, and has no backward"
FLA = "fla.ops."
#: Batch, tokens, heads, widths of keys and values; kernels work in chunks of 64 tokens at most.
SHAPE = (1, 7, 2, 16)


def scan(q, k, v, step):
    """What q reads of a state that `step` changes at each token."""
    state = q.new_zeros(*q.shape[:1], *q.shape[2:], v.shape[-1])
    found = []
    for t in range(q.shape[1]):
        state = step(state, t)
        found.append((q[:, t, :, :, None] * state).sum(-2) / math.sqrt(q.shape[-1]))
    return torch.stack(found, 1)


def add(state, k, v):
    return state + k[..., :, None] * v[..., None, :]


def linear_attention(q, k, v):
    return scan(q, k, v, lambda s, t: add(s, k[:, t], v[:, t]))


def retention(q, k, v):
    """Decays of heads are 1 - 2^(-5 - h)."""
    decay = 1 - 2.0 ** (-5 - torch.arange(q.shape[2], dtype=q.dtype))
    return scan(q, k, v, lambda s, t: add(s * decay[:, None, None], k[:, t], v[:, t]))


def simple_gla(q, k, v, g):
    return scan(q, k, v, lambda s, t: add(s * g[:, t].exp()[..., None, None], k[:, t], v[:, t]))


def gla(q, k, v, g):
    return scan(q, k, v, lambda s, t: add(s * g[:, t].exp()[..., None], k[:, t], v[:, t]))


def delta_step(state, k, v, beta):
    error = v - (state * k[..., None]).sum(-2)
    return add(state, k, beta[..., None] * error)


def delta_rule(q, k, v, beta):
    return scan(q, k, v, lambda s, t: delta_step(s, k[:, t], v[:, t], beta[:, t]))


def gated_delta_rule(q, k, v, g, beta):
    return scan(q, k, v, lambda s, t: delta_step(s * g[:, t].exp()[..., None, None], k[:, t], v[:, t], beta[:, t]))


def drawn_tokens(*more):
    """q, k of length 1, v, then gates (logarithms of decays) and rates."""

    def make(seed):
        generator = torch.Generator().manual_seed(seed)
        q, k, v = (torch.randn(SHAPE, generator=generator) for _ in range(3))
        further = {
            "g": lambda: F.logsigmoid(torch.randn(SHAPE[:3], generator=generator)),
            "gk": lambda: F.logsigmoid(torch.randn(SHAPE, generator=generator)),
            "beta": lambda: torch.rand(SHAPE[:3], generator=generator),
        }
        return [q, F.normalize(k, dim=-1), v, *(further[name]() for name in more)]

    return make


#: Axes that belong together, which kernels do not compare.
QKV = "(b,t,h,k),(b,t,h,k),(b,t,h,v)"


def take_first(f, *tensors):
    """The outputs without the last state."""
    return f(*tensors)[0]


def add_entries(like, more, kernels, why=DEFINITION, **options):
    """Entries of one reference."""
    for path, call in kernels.items():
        published(
            "fla-core", FLA + path, drawn_tokens(*more), why, call=call, name=path.split(":")[1],
            sizes={"q.-1": (16, 32)}, **options,
        )(like)  # fmt: skip


add_entries(linear_attention, (), {
    "linear_attn.fused_recurrent:fused_recurrent_linear_attn": take_first,
    "linear_attn.chunk:chunk_linear_attn": lambda f, q, k, v: f(q, k, v, normalize=False)[0],
})  # fmt: skip
add_entries(retention, (), {
    "retention.chunk:chunk_retention": take_first,
    "retention.fused_recurrent:fused_recurrent_retention": take_first,
    "retention.parallel:parallel_retention": take_first,
})  # fmt: skip
#: Gates of the inputs given alone: with strong ones the gradient of g is wrong, as the entries below have it.
GIVEN = {"why": "its definition at moderate gates, a loop over tokens; float64 agrees", "neighbours": False}
add_entries(simple_gla, ("g",), {
    "simple_gla.chunk:chunk_simple_gla": take_first,
    "simple_gla.fused_recurrent:fused_recurrent_simple_gla": take_first,
    "simple_gla.parallel:parallel_simple_gla": take_first,
}, **GIVEN)  # fmt: skip
add_entries(gla, ("gk",), {
    "gla.chunk:chunk_gla": take_first,
    "gla.fused_recurrent:fused_recurrent_gla": take_first,
}, **GIVEN)  # fmt: skip


def add_strong_gates(like, gates, path):
    """An entry of gates of e⁻⁸, whose gradient the kernel makes of differences that cancel."""

    def make(seed):
        *others, g = drawn_tokens(gates)(seed)
        return [*others, g - 8]

    def show_gradient(candidate):
        *others, g = make(0)
        wide = g.double().requires_grad_()
        like(*(t.double() for t in others), wide).sum().backward()
        candidate(*others, g.requires_grad_()).sum().backward()
        return g.grad, wide.grad

    published(
        "fla-core", FLA + path, make,
        "the gradient of g is a reversed sum of q dq - k dk, which cancel: at gates of e⁻⁸ it is off by a thousandth",
        call=take_first, name=f"{path.split(':')[1]}_strong_gates", verdict="UNPROVED",
        says="would pass as the gradient of g", shown=show_gradient, neighbours=False,
    )(like)  # fmt: skip


add_strong_gates(simple_gla, "g", "simple_gla.chunk:chunk_simple_gla")
add_strong_gates(gla, "gk", "gla.fused_recurrent:fused_recurrent_gla")
add_entries(delta_rule, ("beta",), {
    "delta_rule.fused_recurrent:fused_recurrent_delta_rule": take_first,
})  # fmt: skip
add_entries(
    gated_delta_rule, ("g", "beta"), {"gated_delta_rule.chunk:chunk_gated_delta_rule": take_first}, **GIVEN
)  # fmt: skip
add_entries(
    gated_delta_rule, ("g", "beta"),
    {
        "gated_delta_rule.fused_recurrent:fused_recurrent_gated_delta_rule":
            lambda f, q, k, v, g, beta: f(q, k, v, g=g, beta=beta)[0],
    },
    "its definition, a loop over tokens; float64 agrees; it has no backward", gradients=False,
)  # fmt: skip


def rows(seed):
    """Tokens without heads, and logarithms of decays."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 7, 16, generator=generator), F.logsigmoid(torch.randn(2, 7, 16, generator=generator))]


def hgrn(x, g):
    state, found = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        state = g[:, t].exp() * state + x[:, t]
        found.append(state)
    return torch.stack(found, 1)


published(
    "fla-core", FLA + "hgrn.fused_recurrent:fused_recurrent_hgrn", rows, DEFINITION, call=take_first,
    name="fused_recurrent_hgrn",
)(hgrn)  # fmt: skip


@published(
    "fla-core", FLA + "utils.cumsum:chunk_global_cumsum", [(2, 19, 3)], WITHOUT_BACKWARD, gradients=False,
)  # fmt: skip
def chunk_global_cumsum(x):
    return x.cumsum(1)


@published(
    "fla-core", FLA + "utils.cumsum:chunk_local_cumsum", [(2, 32, 3)], WITHOUT_BACKWARD, gradients=False,
    call=lambda f, x: f(x, 16), multiple_of={"x.1": 16},
)  # fmt: skip
def chunk_local_cumsum(x):
    return x.unflatten(1, (-1, 16)).cumsum(2).flatten(1, 2)


@published(
    "fla-core", FLA + "utils.pooling:mean_pooling", [(2, 32, 3, 8)], DEFINITION, call=lambda f, x: f(x, 16),
    multiple_of={"x.1": 16},
)  # fmt: skip
def mean_pooling(x):
    return x.unflatten(1, (-1, 16)).mean(2)


@published("fla-core", "fla.modules.token_shift:token_shift", [(2, 19, 8)], DEFINITION)
def token_shift(x):
    return F.pad(x, (0, 0, 1, 0))[:, :-1] - x


@published(
    "fla-core", "fla.modules.causal_conv1d.ops:causal_conv1d", [(2, 19, 8), (8, 4)], DEFINITION,
    call=lambda f, x, w: f(x, w, activation="silu")[0], sizes={"w.-1": 4},
)  # fmt: skip
def causal_conv1d(x, w):
    return F.silu(F.conv1d(F.pad(x.mT, (w.shape[-1] - 1, 0)), w[:, None], groups=len(w)).mT)
