"""One task in this process: a backend that is an object here is asked, and its answer judged."""

import math

import numpy as np

from opproof.backends.loaded import resolve_members
from opproof.cases import Case
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import InProcessHost
from opproof.harness.run.task import Task
from opproof.reference_ops import load

#: Verdicts that were reached by looking at the numbers.
OF_NUMBERS = {"PASS", "WRONG_VALUE", "WRONG_GRADIENT", "VACUOUS", "INCONCLUSIVE"}


def attempted(backend, text, mode="forward", op=None, *, single_call=False, **rules):
    """The attempt of the case `text`; `rules` are fields of Task."""
    case = Case.parse(text)
    task = Task("made here", str(case), mode, **rules)
    return run_task(
        InProcessHost(resolve_members(backend, "made here")),
        task,
        op or load(case.op),
        math.inf,
        single_call=single_call,
    )


def judged(backend, text, mode="forward", op=None, **options):
    """The judgement on a case."""
    return attempted(backend, text, mode, op, **options).judgement


class Kernel:
    """A function of inputs and parameters as a backend of floats, or of the `dtypes` that are given."""

    name = "kernel"

    def __init__(self, wrong, dtypes=None):
        self.wrong = wrong
        if dtypes is not None:
            self.dtypes = dtypes

    def forward(self, op, inputs, params):
        with np.errstate(all="ignore"):
            return self.wrong(*inputs, **params)
