"""What the tests of the array libraries' adapters share."""

from opproof.backends import precision
from opproof.core.verdicts import FAILED
from opproof.harness.known_failures.findings import read_built_in
from opproof.harness.known_failures.known import mark
from opproof.harness.run.plan import Selection, make_tasks, select_cases, with_known
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits


def results(backend, ledger="", **selection):
    """Records of a run, with the built-in ledger of `ledger` applied."""
    selected = Selection(**selection)
    known = read_built_in(ledger) if ledger else []
    with Pool(HostLimits(jobs=1, timeout=120.0, memory=4 * 2**30)) as pool:
        asked = with_known(make_tasks([backend], select_cases(selected), selected), known)
        return [mark(r, known) for r in pool.run(asked)]


def unexpected(records):
    """Failures that no ledger explains, in words."""
    return [
        f"{r.verdict} {r.case} {r.mode}: {r.message} {r.worst}" for r in records if r.verdict in FAILED and not r.known
    ]


def declared(name):
    """The operators of which an adapter declares the precision."""
    return {entry.op for entry in precision.read(precision.path_of(name))}
