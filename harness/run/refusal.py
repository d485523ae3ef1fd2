"""A wrong call put to a backend: whether it is refused, and nothing written before it is.

The right call that it was made of comes first: who declines that is not asked for what is wrong with it, and who dies
of it has said nothing of the wrong one.
"""

from __future__ import annotations

from dataclasses import replace

from opproof.cases import Case
from opproof.core.dtypes import FLOATS
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.judgement import Judgement
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.reference.wrong_call import make_wrong_call
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.request import Request, wanted_of
from opproof.reference_ops import Op

#: What an error of a backend comes as; all else is an answer, or harm.
_REFUSED = frozenset({Verdict.ERROR, Verdict.UNSUPPORTED, Verdict.OUT_OF_MEMORY})
#: What an answer comes as whose form is not that of the right call.
_ANSWERED = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.NOT_WRITTEN, Verdict.WRONG_VALUE})


def make_requests(case: Case, op: Op, memory: int, *, readable_guards: bool = False) -> tuple[Request, Request]:
    """The right call and the wrong one, whose results have memory as those of the right one."""
    pair = make_fitting_question(replace(case, wrong=""), op, Mode.FORWARD, memory)
    wanted = wanted_of(pair.case_data, pair.outputs)
    right = Request(pair.case_data, wanted, readable_guards=readable_guards)
    return right, replace(right, posed=make_wrong_call(pair.case_data, case.wrong), wrong=True)


def judge_refusal(host: Host, right: Request, wrong: Request, timeout: float) -> Judgement:
    """Judge the wrong call, after the right one. Raises EarlyVerdict, and HostFault where the process ends."""
    dtype = wrong.posed.case.dtype
    if dtype not in FLOATS and dtype not in host.about.dtypes:
        raise EarlyVerdict(Verdict.UNSUPPORTED, f"the backend does not declare the dtype {dtype}")
    try:
        host.call(right, timeout)
    except EarlyVerdict as settled:
        if settled.verdict is Verdict.UNSUPPORTED:
            raise
    except HostFault as fault:
        said = f"the right call, without what is wrong, ends so already: {fault.message}"
        raise HostFault(Verdict.INCONCLUSIVE, said) from None
    try:
        host.call(wrong, timeout)
    except EarlyVerdict as settled:
        if settled.verdict in _REFUSED:
            host.late()
            return Judgement(Verdict.PASS, f"refused: {settled.message}")
        if settled.verdict not in _ANSWERED:
            raise
        how = f": {settled.message}"
    else:
        how = ", in the form of the right call"
    return Judgement(Verdict.NOT_REFUSED, f"it was answered{how}")
