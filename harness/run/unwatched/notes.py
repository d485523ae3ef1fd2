"""What a run says of a program at its end: what it did not come to, and what is declared and not needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import FAILED
from opproof.harness.reference.roundoff import COMPUTE_U
from opproof.harness.run.unwatched.asked import Answered
from opproof.harness.run.unwatched.judged import Asked, attempt


def left_out(backend: str, status: int | None, came: int, count: int) -> str:
    """How many of its calls were answered, and how it ended, see `process.run`; empty where all were."""
    if came == count:
        return ""
    ended = "took too long" if status is None else f"ended with status {status}" if status else "stopped for its time"
    return f"{backend}: a program of its own answered {came} of {count} calls, and {ended}."


def idle(backend: str, answers: Iterable[tuple[Asked, Answered]]) -> str:
    """Of which operators nothing that came needs the coarser precision that is declared, in words."""
    needed = defaultdict[str, list[bool]](list)
    for one, answered in answers:
        case, declared = one.pair.asked.case, one.rules.declared
        if "called" in answered.ways and COMPUTE_U.get(declared or "", 0) > DTYPES[case.dtype].u:
            strict = replace(one, rules=replace(one.rules, declared=None))
            made = attempt(strict, one.pair.asked, answered.ways["called"])
            needed[f"{case.op} ({case.dtype} as {declared})"].append(made.judgement.verdict in FAILED)
    some = ", ".join(what for what, of in needed.items() if not any(of))
    if not some:
        return ""
    said = f"{backend}: right without what it declares wherever a program asked: {some}."
    return f"{said} A declaration widens every bound; `opproof precision -b {backend}` tells what needs it."


def not_at_once(backend: str, answers: Iterable[tuple[Asked, Answered]]) -> str:
    """Of which operators two threads that called at once got answers that were not theirs, in words."""
    some = dict.fromkeys(one.pair.asked.case.op for one, answered in answers if "at once" in answered.ways)
    said = f"{backend}: two threads that call at once get other bits than each alone, in {', '.join(some)}."
    return f"{said} Who serves several has to lock." * bool(some)
