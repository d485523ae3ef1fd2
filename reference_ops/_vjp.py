"""The one convention of gradients: one cotangent and one saved output per output in, one gradient per tensor out."""

from collections.abc import Mapping, Sequence
from typing import Any

from opproof.core.tuples import tuple_of, unpack_single
from opproof.reference_ops._op import Op


def gradients_of(
    op: Op, cotangents: Sequence[Any], outputs: Sequence[Any], tensors: Sequence[Any], params: Mapping[str, Any]
) -> tuple[Any, ...]:
    """What `op.vjp` gives for each of `tensors`, None where there is no gradient; the op must have a vjp.

    `cotangents` holds None for an output of integers or booleans.
    """
    assert op.vjp is not None
    found = tuple_of(op.vjp(unpack_single(cotangents), unpack_single(outputs), *tensors, **params))
    return (*found, *(None for _ in tensors))[: len(tensors)]
