"""What samplers are tried with: vocabularies, batches, numbers, and log weights of rows that few inputs have.

A tensor of tokens holds logits, weights or probabilities along its last axis, and stays of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import special

Array = np.ndarray[Any, Any]

VOCABULARIES = (1, 2, 31, 128, 1000, 32_000)
BATCHES = (1, 2, 33)
DTYPES = ("f32", "f16", "bf16")
LAYOUTS = ("transposed", "sliced", "gapped", "offset")
#: By so much one logit is above all others where one token is nearly certain: the others come once in some 1,000 draws.
CERTAIN_GAP = 12.0
#: Of a row's tokens this share is masked.
MASKED_SHARE = 0.5
#: How far the sum of a row of probabilities may be from 1, as 16 bits leave it.
MAX_SUM_ERROR = 0.02

#: A change of log weights, a row each.
Change = Callable[[Array, np.random.Generator], Array]


def _raise_one(z: Array, rng: np.random.Generator) -> Array:
    raised = z.copy()
    chosen = rng.integers(z.shape[-1], size=len(z))
    raised[np.arange(len(z)), chosen] = z.max(-1) + CERTAIN_GAP
    return raised


def _keep_one(z: Array, rng: np.random.Generator) -> Array:
    kept = rng.integers(z.shape[-1], size=len(z))
    return np.where(np.arange(z.shape[-1]) == kept[:, None], z, -np.inf)


def _mask_some(z: Array, rng: np.random.Generator) -> Array:
    masked: Array = np.asarray(rng.random(z.shape) < MASKED_SHARE)
    masked[np.arange(len(z)), np.argmax(z, -1)] = False
    return np.where(masked, -np.inf, z)


def _mask_ends(z: Array, rng: np.random.Generator) -> Array:
    """Mask the first and the last tokens, where sums and searches begin and end."""
    del rng
    width = z.shape[-1] // 4
    place = np.arange(z.shape[-1])
    return np.where((place < width) | (place >= z.shape[-1] - width), -np.inf, z)


#: Log weights, a row each, from others, by the name of what they are then.
FILLS: dict[str, Change] = {
    "steep": lambda z, _: 4 * z,
    "flat": lambda z, _: z / 4,
    "equal": lambda z, _: np.zeros_like(z),
    "ties": lambda z, _: np.round(2 * z) / 2,
    "one nearly certain": _raise_one,
    "one certain": _keep_one,
    "half masked": _mask_some,
    "ends masked": _mask_ends,
    "rising": lambda z, _: np.sort(z, -1),
    "falling": lambda z, _: -np.sort(-z, -1),
}


def resample_rows(z: Array, size: int, rng: np.random.Generator) -> Array:
    """Rows of another size, spread as the given ones are, and masked in as large a share."""
    rows = []
    for row in z:
        finite = row[np.isfinite(row)]
        drawn = np.quantile(finite, rng.random(size)) if finite.size else np.zeros(size)
        masked = rng.random(size) < 1 - finite.size / row.size
        masked[0] &= not masked.all()
        rows.append(np.where(masked, -np.inf, drawn))
    return np.array(rows)


def vary_number(value: Any) -> tuple[Any, ...]:
    """Other numbers in the place of an argument: a share stays one, a temperature positive, a count at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return ()
    if isinstance(value, int):
        return tuple(n for n in dict.fromkeys((1, value - 1, value + 1)) if n > 0) if value > 1 else ()
    return (value / 2, (1 + value) / 2) if value < 1 else (0.5,) if value == 1 else (value / 2, 2 * value)


def change_tokens(values: Array, change: Change | None, vocabulary: int, rng: np.random.Generator) -> Array:
    """A tensor of tokens with other log weights, and as many tokens as are wanted."""
    z = values.reshape(-1, values.shape[-1])
    positive = not (z < 0).any()
    sums = bool(positive and np.all(np.abs(z.sum(-1) - 1) < MAX_SUM_ERROR))
    with np.errstate(divide="ignore"):
        z = np.log(z) if positive else z
    z = z if vocabulary == z.shape[-1] else resample_rows(z, vocabulary, rng)
    z = z if change is None else change(z, rng)
    if positive:
        z = special.softmax(z, -1) if sums else np.exp(z - z.max(-1, keepdims=True))
    return np.asarray(z.reshape(*values.shape[:-1], vocabulary))


def list_near(
    tensors: Sequence[Array], numbers: Sequence[Any], error: float
) -> Iterator[tuple[list[Array], list[Any]]]:
    """Inputs that differ by rounding: tokens more or less probable in their order, and numbers larger or smaller."""
    for tilt in (error, -error):
        moved = [tilt_rows(x, tilt) if x.dtype.kind == "f" else x for x in tensors]
        for step in (error, -error):
            yield moved, [v * (1 + step) if isinstance(v, float) else v for v in numbers]


def tilt_rows(values: Array, error: float) -> Array:
    """Values that rise along the last axis by this part of their size, or of 1 where they are no probabilities."""
    place = np.linspace(-1, 1, values.shape[-1]) if values.ndim else np.array(0.0)
    size = np.abs(values)
    size = np.maximum(size, 1.0) if (values < 0).any() or not values.any() else size
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(np.isfinite(values), values + error * place * size, values))


def find_equal_tokens(tensors: Sequence[Array], shape: tuple[int, ...], wanted: Sequence[int]) -> Array:
    """In the place of each token of the wanted rows the first one of equal inputs; other tokens stand for themselves.

    `shape`: of the probabilities.
    """
    count, tokens = int(np.prod(shape[:-1])), shape[-1]
    found = np.tile(np.arange(tokens), (count, 1))
    some = [v for v in tensors if v.shape[-1:] == (tokens,) and v.ndim <= len(shape)]
    fitting = [v for v in some if all(n in (1, m) for n, m in zip(v.shape[::-1], shape[::-1], strict=False))]
    spread = [np.broadcast_to(v, shape).reshape(count, tokens) for v in fitting]
    for row in wanted if spread else ():
        _, first, group = np.unique(np.stack([v[row] for v in spread]), axis=1, return_index=True, return_inverse=True)
        found[row] = first[group]
    return found
