"""A precision that was not declared: the record passes by it, whole arrays included."""

from __future__ import annotations

from dataclasses import replace

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import SIZE, Verdict
from opproof.harness.judge.gradient import Rules
from opproof.harness.judge.judgement import Judgement, judge
from opproof.harness.judge.outputs import Answer
from opproof.harness.reference.question import Posed

#: Units, under the declaration, that an honest composite's largest error has at most, and their RMS at least.
LARGEST, LEAST = 4.0, 0.1
#: Elements at least: a single one could be off for any reason.
FEWEST = 2


def storage(posed: Posed, answer: Answer, judgement: Judgement, rules: Rules) -> tuple[str, str]:
    """Label and sentence where a 16-bit record passes with its intermediates or its sums in the dtype; else both empty.

    Not where elements are too large or too small together: the judgement says that, and by how much.
    """
    dtype = posed.case.dtype
    if rules.declared is not None or DTYPES[dtype].digits >= 24 or _together(judgement):
        return "", ""
    if sum(j.comparison.units.size for j in judgement.tensors) < FEWEST:
        return "", ""
    wrong = sum(int((~j.comparison.passed).sum()) for j in judgement.tensors)
    sums = wrong > 1 and "long sum" in posed.op.traits  # one sum could be off for any reason
    summed = [(dtype, f"its sums are accumulated in {dtype}")] if sums else []
    for declaration, how in [("storage", f"its intermediates are stored in {dtype}"), *summed]:
        declared = judge(posed, answer, replace(rules, declared=declaration))
        if declared.verdict is Verdict.PASS and of_its_size(declared):
            said = f'passes if {how}: declare it (compute -> "{declaration}"), or accumulate in float32'
            return SIZE, said
    return "", ""


def of_its_size(declared: Judgement) -> bool:
    """Whether errors are as large as such rounding makes them: a wrong formula's are larger, or in a few elements."""
    rms = declared.figures.rms
    return declared.units is not None and declared.units <= LARGEST and (rms is None or rms >= LEAST)


def _together(judgement: Judgement) -> bool:
    """Whether a factor, or how results are rounded, says more."""
    figures = [j.figures for j in judgement.tensors]
    if any(
        f.factor is not None and f.bias is not None and f.rms is not None and abs(f.bias) > f.rms / 2 for f in figures
    ):
        return True
    within = all(j.comparison.passed.all() for j in judgement.tensors)
    return within and any(f.misrounded(None) for f in figures)
