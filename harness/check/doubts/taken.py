"""Failures looked at again where a reference takes numbers out of tensors: what PyTorch does not see has no noise.

`x.item()` keeps its noise (truth/torch/numbers.py); float(x) and math.sqrt(x.item()) lose it, and the bound is too
narrow by what such a number is off. How much that is, evaluations tell in which the numbers are noisy, whatever they
decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.comparison import compare
from opproof.harness.judge.array_statistics import figures
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.torch.arithmetic import Way
from opproof.harness.reference.torch.evaluate import Question, Truth, truth


def unknown(question: Question, known: Truth, judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; what is wrong within the noise of numbers that leave PyTorch is INCONCLUSIVE."""
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG and j.tensors]
    if not known.taken or not wrong:
        return dict(judgements)
    try:
        taken = truth(question, way=Way.TAKEN)
    except (RuntimeError, OpError):  # with noise in them they decide otherwise
        return dict(judgements)
    text = f"{known.taken[0]} takes a number out of a tensor, and its rounding is not known: let it stay a tensor"
    doubtful = replace(judgements[wrong[0]], verdict=Verdict.INCONCLUSIVE, message=text, tensors=())
    return {m: doubtful if m in wrong and _within(m, j, question, taken) else j for m, j in judgements.items()}


def _within(mode: Mode, judgement: Judgement, question: Question, taken: Truth) -> bool:
    if mode is Mode.FORWARD:
        wide: list[tuple[Expected | None, str]] = [*zip(taken.outputs, question.dtypes, strict=True)]
    else:
        each = zip(taken.gradients, question.kinds, question.needs, strict=True)
        wide = [(e, kind) for e, kind, need in each if need]
    if len(wide) != len(judgement.tensors):
        return False
    return all(_passes(j, e, kind or "f32") for j, (e, kind) in zip(judgement.tensors, wide, strict=True))


def _passes(judged: Any, wide: Expected | None, kind: str) -> bool:
    if wide is None:
        return False
    expected = replace(judged.expected, scale=np.maximum(judged.expected.scale, wide.scale))
    comparison = compare(judged.got, expected, kind)
    return comparison.right and not figures(judged.got, expected, comparison, kind).fault()
