"""A wrong answer judged again with some of its elements right for another reason than the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opproof.core.verdicts import Mode
from opproof.harness.judge.array_statistics import figures
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.judgement import Judged, Judgement, measured
from opproof.harness.reference.torch.evaluate import Truth


def compared_by(judged: Judged, comparison: Comparison, kind: str) -> Judged:
    """The array, of a dtype `kind`, with another comparison of its elements."""
    return replace(
        judged, comparison=comparison, figures=figures(judged.got, judged.expected, comparison, kind or "f32")
    )


def judged_again(wrong: Judgement, again: Sequence[Judged]) -> Judgement:
    """The judgement of arrays of which elements were excused: it passes where none is left, and no whole is wrong.

    What is wrong with a whole alone stays as it was said.
    """
    if any(not j.comparison.right for j in again):
        return replace(wrong, tensors=tuple(again))
    if not again or any(j.figures.fault() for j in again):
        return wrong
    return measured(again, [])


def count_of(wrong: Judgement, again: Sequence[Judged]) -> int:
    """How many elements were excused."""
    pairs = zip(again, wrong.tensors, strict=True)
    return sum(int((a.comparison.passed & ~b.comparison.passed).sum()) for a, b in pairs)


def places_of(known: Truth, needs: Sequence[bool], mode: Mode) -> list[int]:
    """Of the arrays of a judgement, in their order, the numbers among outputs and gradients."""
    count = len(known.outputs)
    if mode is Mode.FORWARD:
        return list(range(count))
    each = enumerate(zip(known.gradients, needs, strict=True))
    return [count + i for i, (e, need) in each if need and e is not None]
