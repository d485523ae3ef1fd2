"""ggml's operators of one element: unary, binary, gated and fused."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.views import ensure_contiguous, ensure_owned, ensure_rows, expand, reshape, take_part
from opproof.backends.protocol import Unsupported

#: Our names where they differ from ggml's.
_UNARY = {
    **{n: n for n in "abs neg step tanh relu sigmoid hardsigmoid hardswish exp expm1 floor ceil round trunc".split()},
    **{n: n for n in "sqrt sin cos log silu gelu_quick".split()},
    "sign": "sgn",
    "square": "sqr",
    "round_half_away": "round",
}


def _unary(name: str, g: Graph, x: Tensor) -> Tensor:
    return g.call(f"ggml_{name}", ensure_rows(g, x))


def _binary(name: str, g: Graph, a: Tensor, b: Tensor) -> Tensor:
    shape = np.broadcast_shapes(a.shape, b.shape)
    if g.type(b) not in (g.type(a), "f32"):
        raise Unsupported(f"ggml_{name} on the CPU takes {g.type(a)} with {g.type(a)} or f32, not {g.type(b)}")
    a = ensure_rows(g, expand(g, a, shape))
    if g.over is None and can_fold(g, a, b):
        folded, rest = (shape[0] * shape[1], *shape[2:]), b.shape[-len(shape) + 1 :]
        return reshape(g, g.call(f"ggml_{name}", reshape(g, a, folded), reshape(g, b, rest), shape=folded), shape)
    return g.call(f"ggml_{name}", a, b, shape=shape)


def can_fold(g: Graph, a: Tensor, b: Tensor) -> bool:
    """Whether b lacks the first axis of a alone, and neither is copied where a's first two become one.

    Of the longer axis ggml then repeats b as a whole, which NumPy has no shapes for.
    """
    lead, rank = a.shape[:2], len(a.shape)
    few = rank > 2 and (len(b.shape) == rank - 1 or (len(b.shape) == rank and b.shape[0] == 1))
    dense = few and all(g.asks("ggml_is_contiguous", t) for t in (a, b))
    return dense and min(lead) > 1 and b.shape[1 - rank] == lead[1]


def _gated(name: str, g: Graph, x: Tensor, gate: Tensor | None = None, *, swapped: bool) -> Tensor:
    if gate is None:
        shape = (*x.shape[:-1], x.shape[-1] // 2)
        return g.call(f"ggml_{name}{'_swapped' if swapped else ''}", _make_plain(g, x), shape=shape)
    return g.call(f"ggml_{name}_split", _make_plain(g, x), _make_plain(g, gate))


def _make_plain(g: Graph, x: Tensor) -> Tensor:
    """As the gated kernels want x: one gap between rows at most."""
    return x if g.asks("ggml_is_contiguous_1", x) else ensure_contiguous(g, x)


def swiglu_oai(g: Graph, x: Tensor, gate: Tensor | None = None, *, alpha: float, limit: float, swapped: bool) -> Tensor:
    """Of two tensors only; halves of one are views."""
    if gate is None:
        n = x.shape[-1] // 2
        x = ensure_rows(g, x)
        x, gate = take_part(g, x, -1, 0, n), take_part(g, x, -1, n, 2 * n)
        x, gate = (gate, x) if swapped else (x, gate)
    return g.call("ggml_swiglu_oai", _make_plain(g, x), _make_plain(g, gate), alpha, limit)


def gelu(g: Graph, x: Tensor, *, approximate: str) -> Tensor:
    return g.call("ggml_gelu_erf" if approximate == "none" else "ggml_gelu", ensure_rows(g, x))


def elu(g: Graph, x: Tensor, *, alpha: float) -> Tensor:
    if alpha != 1.0:
        raise Unsupported(f"ggml_elu has alpha = 1 only, not {alpha}")
    return g.call("ggml_elu", ensure_rows(g, x))


def softplus(g: Graph, x: Tensor, *, beta: float, threshold: float) -> Tensor:
    if (beta, threshold) != (1.0, 20.0):
        raise Unsupported(f"ggml_softplus has beta = 1 and threshold = 20 only, not {beta} and {threshold}")
    return g.call("ggml_softplus", ensure_rows(g, x))


def leaky_relu(g: Graph, x: Tensor, *, negative_slope: float) -> Tensor:
    x = ensure_rows(g, x)
    return g.call("ggml_leaky_relu", x, negative_slope, g.is_over(x))


def xielu(g: Graph, x: Tensor, *, alpha_n: float, alpha_p: float, beta: float, eps: float) -> Tensor:
    return g.call("ggml_xielu", _make_plain(g, x), alpha_n, alpha_p, beta, eps)


def clamp(g: Graph, x: Tensor, *, min: float | None, max: float | None) -> Tensor:  # noqa: A002 - the operator's own
    """ggml_clamp writes into its input, so it gets a copy where the result does not belong there."""
    if min is not None and max is not None and min > max:
        raise Unsupported("of crossed bounds ggml_clamp takes the lower one, not the upper")
    low, high = -np.inf if min is None else min, np.inf if max is None else max
    return g.call("ggml_clamp", ensure_owned(g, x), float(low), float(high))


def hardtanh(g: Graph, x: Tensor, *, min_val: float, max_val: float) -> Tensor:
    return clamp(g, x, min=min_val, max=max_val)


def relu6(g: Graph, x: Tensor) -> Tensor:
    return clamp(g, x, min=0.0, max=6.0)


def scale(g: Graph, x: Tensor, *, s: float, b: float) -> Tensor:
    return (
        g.call("ggml_scale", ensure_contiguous(g, x), s)
        if b == 0
        else g.call("ggml_scale_bias", ensure_contiguous(g, x), s, b)
    )


def add1(g: Graph, a: Tensor, b: Tensor) -> Tensor:
    return g.call("ggml_add1", _make_plain(g, a), b)


def add_id(g: Graph, a: Tensor, b: Tensor, ids: Tensor) -> Tensor:
    return g.call("ggml_add_id", ensure_rows(g, a), ensure_rows(g, b), g.integers(ids))


def fill(g: Graph, x: Tensor, *, value: float) -> Tensor:
    return g.call("ggml_fill", ensure_contiguous(g, x), float(value))


def opt_step_sgd(g: Graph, param: Tensor, grad: Tensor, *, lr: float, weight_decay: float) -> Tensor:
    how = g.leaf(np.array([lr, weight_decay], np.float32))
    return g.call("ggml_opt_step_sgd", _make_parameter(g, param), ensure_rows(g, grad), how)


def opt_step_adamw(
    g: Graph, param: Tensor, grad: Tensor, exp_avg: Tensor, exp_avg_sq: Tensor,
    *, lr: float, beta1: float, beta2: float, eps: float, weight_decay: float, step: int,
) -> list[Tensor]:  # fmt: skip
    corrections = 1 / (1 - beta1**step), 1 / (1 - beta2**step)
    how = g.leaf(np.array([lr, beta1, beta2, eps, weight_decay, *corrections], np.float32))
    m, v = g.copied(exp_avg), g.copied(exp_avg_sq)
    return [g.call("ggml_opt_step_adamw", _make_parameter(g, param), ensure_rows(g, grad), m, v, how), m, v]


def _make_parameter(g: Graph, x: Tensor) -> Tensor:
    """A copy of a leaf, or the leaf itself in place, that ggml's optimisers agree to change."""
    in_place = g.is_over(x)
    if in_place and ensure_rows(g, x) is not x:
        raise Unsupported("ggml's optimisers want the elements of a row next to each other")
    changed = x if in_place else g.copied(x)
    g.do("ggml_set_param", changed)
    return changed


TABLE: dict[str, Any] = {
    **{ours: functools.partial(_unary, theirs) for ours, theirs in _UNARY.items()},
    **{n: functools.partial(_binary, n) for n in ("add", "sub", "mul", "div")},
    **{n: functools.partial(_gated, n) for n in ("reglu", "geglu", "swiglu", "geglu_erf", "geglu_quick")},
    **{
        f.__name__: f
        for f in (
            swiglu_oai, gelu, elu, softplus, leaky_relu, xielu, clamp, hardtanh, relu6, scale, add1, add_id, fill,
            opt_step_sgd, opt_step_adamw,
        )
    },
}  # fmt: skip
