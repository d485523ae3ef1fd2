"""Contractions as they are called: einsum and tensordot take an axis of size 1 for one of any size, as no matmul does.

PyTorch decomposes both before its dispatch tells of them, so that what is stretched shows in no operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from opproof.harness.truth.torch.functions import functions

#: The name of a contraction, and the sizes that its operands have in each letter or pair of axes.
Told = Callable[[str, Sequence[Sequence[int]]], None]


def contracting(told: Told) -> AbstractContextManager[Any]:
    """A block in which every contraction is told of."""

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        name = getattr(func, "__name__", "")  # of einsum there are two, one calls the other
        if name in SIZES:
            told(name, SIZES[name](*args, **kwargs))
        return y

    return functions(answered)


def by_letter(equation: Any, *operands: Any) -> list[list[int]]:
    """Of every letter of an einsum that was accepted the sizes that its operands have there."""
    if not isinstance(equation, str):  # operands and lists of axes in turn
        given = (equation, *operands)
        return _sizes(list(zip(given[0::2], given[1::2], strict=False)))
    flat = operands[0] if len(operands) == 1 and isinstance(operands[0], tuple | list) else operands
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    return _sizes([(x, term.replace("...", ".")) for x, term in zip(flat, terms, strict=True)])


def _sizes(pairs: Sequence[tuple[Any, Any]]) -> list[list[int]]:
    """Sizes by letter; axes that stand for any number are broadcast by all operations, which tell of it themselves."""
    found: dict[Any, list[int]] = {}
    for x, letters in pairs:
        rest = [i for i, c in enumerate(letters) if c in (".", Ellipsis)]
        after = letters[rest[0] + 1 :] if rest else ()
        before = letters[: rest[0]] if rest else letters
        sizes = [*x.shape[: len(before)], *x.shape[len(x.shape) - len(after) :]]
        for letter, n in zip((*before, *after), sizes, strict=True):
            found.setdefault(letter, []).append(n)
    return list(found.values())


def by_pair(a: Any, b: Any, dims: Any = 2, **_: Any) -> list[list[int]]:
    """Of every pair of axes that a tensordot sums over their two sizes."""
    if isinstance(dims, int):
        dims = range(-dims, 0), range(dims)
    one, two = (d.tolist() if hasattr(d, "tolist") else d for d in dims)
    return [[a.shape[i], b.shape[j]] for i, j in zip(one, two, strict=True)]


#: What is told of, by name.
SIZES: dict[str, Callable[..., list[list[int]]]] = {"einsum": by_letter, "tensordot": by_pair}
