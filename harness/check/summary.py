"""The report of what was tried: records, and what was not judged with the reason."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from opproof.harness.check.against import errors
from opproof.harness.check.doubts.undeclared import by_rule
from opproof.harness.check.posed import tensors_of
from opproof.harness.check.records import records
from opproof.harness.check.report import Report
from opproof.harness.check.sides.reference import Reference
from opproof.harness.check.trial.tried import Tried
from opproof.harness.check.wish import Wish
from opproof.reports import Result
from opproof.reports.advice import sound
from opproof.vocabulary.modes import MODES
from opproof.vocabulary.verdicts import FAILED, Verdict

#: Failures that are diagnosed, and the share of a check's seconds that this may take beside them.
EXPLAINED, SHARE = 3, 0.5
_MARKS = "which has the values of labels or a mask and keeps them: give it with requires_grad=True where it is neither"


def summary(
    found: Sequence[Tried], reference: Reference, name: str, candidate: str, wish: Wish, *, in_process: bool
) -> Report:
    """The report on variants that were tried, the first of them as given; `name`: the reference's."""
    results: list[Result] = []
    advice: list[str] = []  # of each
    not_judged: list[str] = []
    judged: list[str] = []
    named: dict[str, str] = {}
    unsupported: dict[str, list[str]] = {}
    end = time.monotonic() + SHARE * wish.seconds
    failed = any(j.verdict in FAILED for one in found for j in one.judgements.values())
    beside = {m: [w for one in found if failed for w in tensors_of(one, name, reference, m, end)] for m in MODES}
    for one in found:
        where = one.variant.name
        if one.declined:
            # Sizes are guesses: that the reference has none is no news.
            if (one.by_candidate or not one.variant.group) and not one.variant.rare:
                not_judged.append(f"{where}: {one.declined}")
            continue
        judged.append(where)
        told = beside if sum(r.verdict in FAILED for r in results) < EXPLAINED else None
        for r in records(one, reference, name, candidate, in_process=in_process, beside=told, until=end):
            if r.verdict is Verdict.UNSUPPORTED:
                unsupported.setdefault(f"{r.mode}: {r.message}", []).append(where)
            results.append(r)
            advice.append(one.advice.get(r.mode, ""))
            named[r.case] = where
    if not by_rule(results, (j for one in found for j in one.judgements.values())):
        results = [_advised(r, text) for r, text in zip(results, advice, strict=True)]
    for text, some in unsupported.items():
        not_judged.append(text if some == judged else f"{', '.join(some)}, {text}")
    first = found[0]
    if wish.gradients and first.facts is not None and not first.facts.request.cotangents:
        changed = " and ".join(first.facts.request.tensors[i].name for i in first.facts.request.after)
        changed += " are" if len(first.facts.request.after) > 1 else " is" if changed else ""
        none = "the reference has none of these inputs"
        not_judged.append(
            f"gradients: {f'none are asked for, {changed} updated by what has them' if changed else none}"
        )
    marks = [t.name for t in first.facts.request.tensors if t.marks] if wish.gradients and first.facts else []
    not_judged += [f"the gradient of {name}, {_MARKS}" for name in marks]
    promoted = first.truth.promoted if first.truth is not None else ()
    eager = errors(reference, first) if wish.eager else {}
    return Report(
        candidate, name, tuple(sound(results)), tuple(judged), tuple(dict.fromkeys(not_judged)), promoted, eager,
        named, wish.again,
    )  # fmt: skip


def _advised(result: Result, advice: str) -> Result:
    return replace(result, message="; ".join(filter(None, (result.message, advice))))
