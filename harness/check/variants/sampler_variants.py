"""Inputs of a sampler other than the given ones: few rows of the same kind, each of them many times in one call."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.cases._fills import sampling
from opproof.core.arrays import Array
from opproof.harness.check.call.subject import Arguments
from opproof.harness.check.tensors import CONTIGUOUS, NAMES, CallTensor
from opproof.harness.check.variants.variant import GIVEN

#: Rows of different laws in a variant, each of them repeated: enough that one may be taken for another.
MAX_LAWS = 3
MAX_BATCH_ROWS = 8192
#: Numbers in the tensors of a call.
MAX_CALL_ELEMENTS = 1 << 19
#: Tokens of the variants whose subject is no vocabulary: few enough that each is drawn often.
USUAL_VOCABULARY = 128


@dataclass(frozen=True)
class SamplerVariant:
    """One set of inputs: `rows` for the reference, which come again and again in what the candidate is given."""

    name: str
    fill: str
    rows: tuple[CallTensor, ...]
    case_data: tuple[CallTensor, ...]
    rest: tuple[Any, ...]  # what is given beside tensors
    batch: int = 0  # rows that the candidate is given; 0: without an axis of rows
    layout: str = CONTIGUOUS


@dataclass(frozen=True)
class SamplerInputs:
    """The inputs that were given, and the shape of their probabilities.

    `valued`: whether the last axis of these is of outcomes that have values, and none of the inputs'.
    """

    arguments: Arguments
    tensors: tuple[CallTensor, ...]
    names: Sequence[str]
    shape: tuple[int, ...]
    valued: bool
    seed: int

    @property
    def batch(self) -> int:
        """Rows along the first axis; 0 where there is no such axis."""
        return self.shape[0] if len(self.shape) > 1 else 0

    def has_tokens(self, t: CallTensor) -> bool:
        """Whether a tensor's last axis is of tokens."""
        lies = t.shape[-1:] == self.shape[-1:] and not self.valued
        return lies and (len(t.shape) > 1 or self.batch != self.shape[-1])

    def has_rows(self, t: CallTensor) -> bool:
        """Whether a tensor's first axis is of rows."""
        lies = bool(self.batch) and t.shape[:1] == self.shape[:1]
        return lies and (len(t.shape) > 1 or not self.has_tokens(t))

    def generate(self, dtypes: Sequence[str]) -> Iterator[SamplerVariant]:
        """The given inputs first; then what tells most: repeated rows, masks and ties, numbers, sizes, layouts."""
        yield SamplerVariant(GIVEN, "normal", self.tensors, self.tensors, self.arguments.rest, self.batch)
        usual = min(self.shape[-1], USUAL_VOCABULARY)
        yield self._make("repeated rows", usual)
        yield from (self._make(name, usual, c) for name, c in sampling.FILLS.items() if not self.valued)
        labels = self.arguments.labels(self.names)
        for i, value in enumerate(self.arguments.rest):
            for other in sampling.vary_number(value):
                rest = (*self.arguments.rest[:i], other, *self.arguments.rest[i + 1 :])
                yield self._make(f"{labels[i] if labels else f'argument {i}'}={other:g}", usual, rest=rest)
        yield from (self._make(dtype, usual, dtype=NAMES[dtype]) for dtype in dtypes)
        yield from (self._make(f"vocabulary of {n}", n) for n in sampling.VOCABULARIES if not self.valued)
        yield from (self._make(f"batch of {n}", usual, batch=n) for n in sampling.BATCHES if self.batch)
        yield from (self._make(layout, usual, layout=layout) for layout in sampling.LAYOUTS)

    def _make(
        self, name: str, vocabulary: int, change: sampling.Change | None = None, *, batch: int = 0, dtype: str = "",
        layout: str = CONTIGUOUS, rest: tuple[Any, ...] | None = None,
    ) -> SamplerVariant:  # fmt: skip
        rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
        count = min(MAX_LAWS, self.batch, batch or MAX_LAWS)
        chosen = rng.choice(self.batch, count, replace=False) if self.batch else None
        vocabulary = self.shape[-1] if self.valued else vocabulary
        rows = []
        for t in self.tensors:
            values = t.values[chosen] if self.has_rows(t) else t.values
            if t.kind and self.has_tokens(t) and (change or vocabulary != self.shape[-1]):
                values = sampling.change_tokens(values, change, vocabulary, rng)
            elif self._is_of_tokens(values):
                values = values % vocabulary
            rows.append(replace(t, dtype=dtype if dtype and t.kind else t.dtype, layout=layout).holding(values))
        if self.batch and not batch:
            each = max(1, sum(t.values.size for t in rows) // count)
            batch = max(1, min(MAX_BATCH_ROWS, MAX_CALL_ELEMENTS // each) // count) * count
        places = np.arange(batch) % max(count, 1)
        pairs = zip(rows, map(self.has_rows, self.tensors), strict=True)
        repeated = tuple(replace(t, values=t.values[places]) if has else t for t, has in pairs)
        fill = "-".join(name.replace(".", "p").replace("=", "-").split())
        of_counts = (min(v, vocabulary) if type(v) is int and v > 1 else v for v in rest or self.arguments.rest)
        return SamplerVariant(name, fill, tuple(rows), repeated, tuple(of_counts), batch, layout)

    def _is_of_tokens(self, values: Array) -> bool:
        whole = values.dtype.kind == "i" and values.size > 0 and not self.valued
        return whole and values.min() >= 0 and values.max() < self.shape[-1]
