"""JAX's functions by operator: what calls functions, what draws numbers, what goes between processes. See pointwise.py.

Processes are those of jax.vmap, whose axis has a name: the collective functions are those that programs call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from opproof.backends.protocol import Unsupported

#: The axis of processes.
_RANKS = "ranks"
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": jnp.add,
    "sub": jnp.subtract,
    "mul": jnp.multiply,
    "logaddexp": jnp.logaddexp,
    "tanh": jnp.tanh,
    "addcmul": lambda x, a, b: x + a * b,
}
#: The most bits of an integer that is signed.
_MAX_WIDTH_BITS = 31


def _map(a: Any, b: Any = None, c: Any = None, *, function: str) -> Any:
    called = _FUNCTIONS[function]
    for _ in range(a.ndim):
        called = jax.vmap(called)
    return called(*(x for x in (a, b, c) if x is not None))


def _branch(index: Any, a: Any, b: Any, *, functions: tuple[str, ...]) -> Any:
    return jax.lax.switch(index[0], [_FUNCTIONS[name] for name in functions], a, b)


def _loop(trips: Any, x: Any, b: Any, *, function: str) -> Any:
    """As often as a tensor says: that is a while loop, through which JAX has no gradient backwards."""

    def body(_: Any, state: Any) -> Any:
        return _FUNCTIONS[function](state, b)

    return jax.lax.fori_loop(0, trips[0], body, x)


def _scan(h: Any, x: Any, *, function: str) -> Any:
    def step(state: Any, row: Any) -> Any:
        after = _FUNCTIONS[function](state, row)
        return after, after

    return jax.lax.scan(step, h, x)


def _draw(function: Callable[..., Any]) -> Callable[..., Any]:
    """What draws in the shape of x, from `key`; JAX's functions take no numbers that are drawn."""

    def entry(x: Any, drawn: Any = None, *, key: int, **given: Any) -> Any:
        if drawn is not None:
            raise Unsupported("JAX's function draws its numbers")
        return function(jax.random.key(key), x, **given)

    return entry


def _multinomial(key: Any, x: Any, *, count: int) -> Any:
    return jax.random.categorical(key, x[:, None], axis=-1, shape=(x.shape[0], count))


def _random_bits(key: Any, x: Any, *, width: int) -> Any:
    """The first bits of 32, which JAX has no signed integers for where they are all."""
    if width > _MAX_WIDTH_BITS:
        raise Unsupported(f"JAX without 64 bits holds no integers of {width} bits as signed ones")
    return (jax.random.bits(key, x.shape, jnp.uint32) >> (32 - width)).astype(jnp.int32)


def _map_over_ranks(function: Callable[..., Any], x: Any) -> Any:
    return jax.vmap(function, axis_name=_RANKS)(x)


def _all_reduce(x: Any, *, reduction: str) -> Any:
    named = {"sum": jax.lax.psum, "mean": jax.lax.pmean, "max": jax.lax.pmax, "min": jax.lax.pmin}
    return _map_over_ranks(lambda one: named[reduction](one, _RANKS), x)


def _reduce_scatter(x: Any, *, reduction: str) -> Any:
    if reduction != "sum":
        raise Unsupported("JAX's psum_scatter adds up")
    return _map_over_ranks(lambda one: jax.lax.psum_scatter(one, _RANKS, scatter_dimension=0, tiled=True), x)


def _all_gather(x: Any, *, dim: int) -> Any:
    axis = dim % (x.ndim - 1)
    return _map_over_ranks(lambda one: jax.lax.all_gather(one, _RANKS, axis=axis, tiled=True), x)


def _all_to_all(x: Any, *, split_dim: int, concat_dim: int) -> Any:
    split, concat = split_dim % (x.ndim - 1), concat_dim % (x.ndim - 1)
    return _map_over_ranks(lambda one: jax.lax.all_to_all(one, _RANKS, split, concat, tiled=True), x)


def _collective_permute(x: Any, *, pairs: tuple[int, ...]) -> Any:
    given = list(zip(pairs[::2], pairs[1::2], strict=True))
    if len(given) != x.shape[0]:
        raise Unsupported("under jax.vmap, ppermute is of all processes")
    return _map_over_ranks(lambda one: jax.lax.ppermute(one, _RANKS, given), x)


TABLE: dict[str, Callable[..., Any]] = {
    "map": _map,
    "branch": _branch,
    "loop": _loop,
    "scan": _scan,
    "bernoulli": _draw(lambda key, x: jax.random.bernoulli(key, x).astype(x.dtype)),
    "multinomial": _draw(_multinomial),
    "random_bits": _draw(_random_bits),
    "random_normal": _draw(lambda key, x, *, mean, scale: mean + scale * jax.random.normal(key, x.shape, x.dtype)),
    "random_uniform": _draw(
        lambda key, x, *, low, high: jax.random.uniform(key, x.shape, x.dtype, minval=low, maxval=high)
    ),
    "all_reduce": _all_reduce,
    "reduce_scatter": _reduce_scatter,
    "all_gather": _all_gather,
    "all_to_all": _all_to_all,
    "collective_permute": _collective_permute,
}
