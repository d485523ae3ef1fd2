"""Attention, positions and routing."""

import math

import torch
from kernel import published

F = torch.nn.functional
DEFINITION = "its definition; float64 agrees"
LIGER = "liger_kernel.ops."


def half_turn(x):
    """The halves of the last axis as the parts of complex numbers, times i."""
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def turn(x, cos, sin):
    return x * cos + half_turn(x) * sin


def heads_of_tokens(seed, angles=(1, 7, 16)):
    """Heads as projections give them, transposed; and angles that are the same in both halves."""
    g = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(2, 7, n, 16, generator=g).transpose(1, 2) for n in (4, 2))
    half = torch.rand(*angles[:-1], 8, generator=g) * 2 * math.pi
    both = torch.cat([half, half], -1)
    return [q, k, both.cos(), both.sin()]


def rope(q, k, cos, sin):
    cos, sin = cos[:, None], sin[:, None]
    return turn(q, cos, sin), turn(k, cos, sin)


ROPE = LIGER + "rope:LigerRopeFunction.apply"
#: Liger's rotations write to q and k where their tokens lie outside of heads, and to copies elsewhere.
WRITES = {"overwrites": ("q", "k", "grad"), "grads": {"cos": None, "sin": None}}
published(
    "liger-kernel", ROPE, heads_of_tokens, "its definition; it writes where tokens lie outside of heads", name="rope",
    **WRITES,
)(rope)  # fmt: skip


def show_changed_input(candidate):
    """What q holds after a call."""
    given = heads_of_tokens(0)
    q = given[0].clone()
    candidate(*given)
    return given[0], q


published(
    "liger-kernel", ROPE, heads_of_tokens, "it writes to q and k, which its signature does not tell",
    name="rope_undeclared", grads={"cos": None, "sin": None}, verdict="INPUT_CHANGED", says=r"say inplace=\('q', 'k'\)",
    shown=show_changed_input,
)(rope)  # fmt: skip


def sections(seed):
    """The same with three rows of angles: time, height and width."""
    return heads_of_tokens(seed, (3, 2, 7, 16))


@published(
    "liger-kernel", LIGER + "qwen2vl_mrope:LigerQwen2VLMRopeFunction.apply", sections,
    "its definition; it writes to q and k", call=lambda f, q, k, cos, sin: f(q, k, cos, sin, [2, 3, 3]),
    signature="(b,h,s,d),(b,k,s,d),(thw,b,s,d),(thw,b,s,d)", sizes={"d": 16, "thw": 3}, **WRITES,
)  # fmt: skip
def mrope(q, k, cos, sin):
    def choose(a):
        parts = [a[i % 3] for i in range(6)]
        widths = [2, 3, 3, 2, 3, 3]
        at = [0, 2, 5, 8, 10, 13]
        return torch.cat([p[..., i : i + w] for p, i, w in zip(parts, at, widths, strict=True)], -1)[:, None]

    return turn(q, choose(cos), choose(sin)), turn(k, choose(cos), choose(sin))


@published(
    "liger-kernel", LIGER + "multi_token_attention:LigerMultiTokenAttentionFunction.apply",
    [(1, 2, 6, 6), (2, 2, 3, 3), (2,)], DEFINITION,
    call=lambda f, s, w, b: f(s, w, b, 1, 1), sizes={"w.-1": 3, "w.-2": 3},
)  # fmt: skip
def multi_token_attention(s, w, b):
    future = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1)
    p = torch.softmax(s.masked_fill(future, -1e9), -1)
    return F.conv2d(p, w, b, padding=1).masked_fill(future, 0.0)


@published(
    "liger-kernel", LIGER + "attn_res:LigerAttnResFunction.apply", [(3, 1, 3, 24), (24,), (24,)], DEFINITION,
    call=lambda f, v, query, norm: f(v, query, norm, 1e-6),
)  # fmt: skip
def attention_residuals(v, query, norm):
    keys = v * torch.rsqrt(v.square().mean(-1, keepdim=True) + 1e-6) * norm
    shares = torch.softmax((keys * query).sum(-1), 0)
    return (shares[..., None] * v).sum(0)


def causal_attention(q, k, v):
    """Axes are batch, token, head, width; a head of k serves several of q."""
    group = q.shape[2] // k.shape[2]
    q, k, v = (
        q.transpose(1, 2),
        k.repeat_interleave(group, 2).transpose(1, 2),
        v.repeat_interleave(group, 2).transpose(1, 2),
    )
    future = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    p = torch.softmax((q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(future, -math.inf), -1)
    return (p @ v).transpose(1, 2)


published(
    "fla-core", "fla.ops.attn.parallel:parallel_attn", [(1, 9, 4, 16), (1, 9, 2, 16), (1, 9, 2, 16)], DEFINITION,
    name="parallel_attn",
)(causal_attention)  # fmt: skip


def angles(seed):
    """Heads of tokens, cosines and sines of half their width."""
    g = torch.Generator().manual_seed(seed)
    a = torch.rand(7, 8, generator=g) * 2 * math.pi
    return [torch.randn(2, 7, 3, 16, generator=g), a.cos(), a.sin()]


@published("fla-core", "fla.modules.rotary.ops:rotary_embedding", angles, DEFINITION, grads={"cos": None, "sin": None})
def rotary_embedding(x, cos, sin):
    cos, sin = (torch.cat([t, t], -1)[: x.shape[1], None] for t in (cos, sin))
    return turn(x, cos, sin)


@published("transformers", "transformers.models.llama.modeling_llama:apply_rotary_pos_emb", heads_of_tokens, DEFINITION)
def apply_rotary_pos_emb(q, k, cos, sin):
    cos, sin = cos[:, None], sin[:, None]
    return turn(q, cos, sin), turn(k, cos, sin)


def write_to_result(candidate):
    """What the one head of x holds after a write to the first of four heads that came."""
    x = torch.ones(1, 1, 2, 2)
    candidate(x)[:, 0] += 1
    return x, torch.ones(1, 1, 2, 2)


@published(
    "transformers", "transformers.models.llama.modeling_llama:repeat_kv", [(2, 3, 5, 8)],
    "where there is one head its result is a view of x, expanded: who writes to it writes to x; copies elsewhere",
    call=lambda f, x: f(x, 4), verdict="INPUT_CHANGED", says="y0 is part of the memory of x", shown=write_to_result,
)  # fmt: skip
def repeat_kv(x):
    return x.repeat_interleave(4, 1)


def of_groups(seed):
    """Queries of four heads, keys and values of two."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(2, n, 7, 16, generator=g) for n in (4, 2, 2)]


def call_eager(f, q, k, v):
    """As a layer of Llama does."""
    module = torch.nn.Module()
    module.num_key_value_groups = q.shape[1] // k.shape[1]
    return f(module, q, k, v, None, q.shape[-1] ** -0.5)[0]


@published(
    "transformers", "transformers.models.llama.modeling_llama:eager_attention_forward", of_groups, DEFINITION,
    call=call_eager,
)  # fmt: skip
def eager_attention(q, k, v):
    k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
    return (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).transpose(1, 2)


def pairs_of_angles(seed):
    """Tokens, sines and cosines in the width of a head."""
    g = torch.Generator().manual_seed(seed)
    a = (torch.rand(7, 8, generator=g) * 2 * math.pi).repeat_interleave(2, -1)
    return [torch.randn(2, 3, 7, 16, generator=g), a.sin(), a.cos()]


def quarter_turn(x):
    """Neighbours of the last axis as the parts of complex numbers, times i."""
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)


@published("timm", "timm.layers.pos_embed_sincos:apply_rot_embed", pairs_of_angles, DEFINITION)
def apply_rot_embed(x, sin, cos):
    return x * cos + quarter_turn(x) * sin


@published("x-transformers", "x_transformers.x_transformers:apply_rotary_pos_emb", [(2, 7, 16), (1, 7, 16)], DEFINITION,
           name="apply_rotary_pos_emb")  # fmt: skip
def x_rotary(x, angles):
    return x * angles.cos() + quarter_turn(x) * angles.sin()
