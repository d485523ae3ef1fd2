"""A candidate in a process of its own: out of reach of the judge, and free to die; and both sides read from files.

Files have our form, `reference(*tensors)`, `inputs(seed, dtype)` and `candidate(*tensors)`, KernelBench's: `Model`,
`get_inputs` and `get_init_inputs`, and `ModelNew`, or that of GPU MODE's reference-kernels: `ref_kernel`,
`generate_input` and `custom_kernel`, with the sizes of the first test of `task.yml`.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from opproof.backends.worker.sandbox.import_guard import with_compiled
from opproof.core.errors import UsageError
from opproof.core.verdicts import Verdict
from opproof.harness.check.call import user_classes, wire
from opproof.harness.check.call.exchange import CallRequest, Reply
from opproof.harness.check.call.perform import changed_of
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.serve import load_module
from opproof.harness.check.contract import Contract
from opproof.harness.check.options import SAMPLING
from opproof.harness.clock import count, count_no_more
from opproof.harness.run.hardening import with_hardened_process
from opproof.harness.run.hosts.process import HostFault, HostProcess
from opproof.reports.exchange.definitions import ResultForm, read_sizes

#: Of the memory that is left, what a candidate may use before it is ended: the rest is the judge's.
_MEMORY_SHARE = 0.75


@dataclass(frozen=True)
class Located:
    """Where a candidate stands: a file and a name in it; `init`: what a class is made with.

    `withheld`: the file of the reference, which answers for no candidate.
    """

    file: Path
    label: str
    init: tuple[Any, ...] | None = None
    seconds: float = 60.0  # a call may take
    withheld: Path | None = None
    evaluation: bool = False  # of a module that is not in training mode
    sampler: bool = False  # its draws are judged

    @property
    def __name__(self) -> str:
        return self.label


def function_of(candidate: Any) -> Located:
    """Where a function stands. Raises UsageError where another process could not find it."""
    name = getattr(candidate, "__qualname__", "")
    file = inspect.getsourcefile(candidate) if inspect.isfunction(candidate) else None
    if file is None or not name.isidentifier() or not Path(file).is_file():
        raise UsageError("isolate=True needs a function at the top of a file: another process loads it from there.")
    return Located(Path(file), name)


@contextlib.contextmanager
def isolated(located: Located, reference: Reference, seed: int = 0, *, lasts: bool = False) -> Iterator[CallFn]:
    """A block in which requests can be put to the candidate, and what the judge holds is out of its reach.

    What PyTorch itself answers is known before the candidate is asked: its memory is nobody else's to read. What the
    candidate starts ends with the block.
    """
    command = [sys.executable, "-P", "-m", "opproof.harness.check.call.serve", str(located.file), located.label]
    process: list[HostProcess] = []

    def ask(request: CallRequest) -> Reply:
        if process and not process[0].alive:
            died = process[0].fault()
            _stop(process.pop())
            return Reply(error=f"after the call before had returned, {died.message}", cause=died.verdict)
        if not process:
            how = _encode_start(located, reference, seed, lasts=lasts)
            hidden = with_compiled(filter(None, [located.withheld]))
            process[:] = [HostProcess([*command, how], _measure_memory(), hidden=hidden)]
            count(process[0].number)
        reply = _ask_process(process[0], request, located.seconds)
        if reply.error and not process[0].alive:  # it died of this call, which says so
            _stop(process.pop())
        return reply

    try:
        with with_hardened_process():
            yield ask
    finally:
        for p in process:
            _stop(p)


def _stop(process: HostProcess) -> None:
    process.stop()
    count_no_more(process.number)


def _measure_memory() -> int:
    """Bytes that a candidate may use, of those that can be had now; 0, no limit, where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next(
        (int(int(line.split()[1]) * 1024 * _MEMORY_SHARE) for line in lines if line.startswith("MemAvailable")), 0
    )


def _encode_start(located: Located, reference: Reference, seed: int, *, lasts: bool) -> str:
    form = reference.form
    arguments = form.arguments
    try:
        rest = [wire.to_json(v) for v in arguments.rest]
        lists = (list, tuple, dict)  # of a class's own are what JSON makes of them
        init = located.init and [v if isinstance(v, lists) else wire.to_json(v) for v in located.init]
    except TypeError as error:
        raise UsageError(
            f"an argument cannot be sent to another process ({error}): give tensors, numbers, texts, dtypes, "
            "members of an enum, functions of a library, or objects that hold these."
        ) from None
    how = {
        "rest": rest, "places": arguments.places, "spec": user_classes.spec_to_text(arguments.spec), "seed": seed,
        "keywords": arguments.keywords,
        "count": form.count, "parameters": form.parameters, "buffers": form.buffers, "init": init,
        "evaluation": located.evaluation, "sampler": located.sampler, "lasts": lasts,
        "withheld": None if located.withheld is None else str(located.withheld),
    }  # fmt: skip
    return json.dumps(how)


def _ask_process(process: HostProcess, request: CallRequest, seconds: float) -> Reply:
    """The reply; a process that is silent for too long, or dies, or says what is no reply, is told by its cause."""
    stream = io.BytesIO()
    wire.write_request(stream, request)
    try:
        reply = wire.read_reply(io.BytesIO(process.exchange(stream.getvalue(), seconds)))
        return reply if reply.error else replace(reply, changed=changed_of(request, reply.left))
    except HostFault as fault:
        return Reply(error=fault.message, cause=fault.verdict)
    except (ValueError, KeyError, TypeError, EOFError) as error:
        return Reply(error=f"what came is no reply: {type(error).__name__}", cause=Verdict.ERROR)


_OPTIONS = tuple(f.name for f in fields(Contract))


@dataclass(frozen=True)
class FilePair:
    """What is compared, and for which inputs."""

    reference: Any
    candidate: Located
    inputs: Any
    contract: Mapping[str, Any] = field(default_factory=dict)  # the options of one, of the reference's file
    properties: Callable[..., Any] | None = None
    tolerance: float | None = None
    probabilities: Callable[..., Any] | None = None
    form: ResultForm | None = None  # of the answer that the files' benchmark has


def load_pair(reference: Path, candidate: Path | None, seed: int) -> FilePair:
    """The sides in two files; without a candidate, the reference's alone, whose file stands in its place.

    Raises UsageError where the reference cannot be loaded or has neither form.
    """
    import torch

    alone, candidate = candidate is None, candidate or reference
    for file in (reference, candidate):
        if not file.is_file():
            raise UsageError(f"there is no file {file}: give a Python file that is there.")
    withheld = None if reference.resolve() == candidate.resolve() else reference.resolve()
    try:
        module = load_module(reference)
    except Exception as error:
        raise UsageError(f"{reference} could not be loaded: {type(error).__name__}: {error}") from error
    if not alone and withheld is None and not hasattr(module, "candidate") and not hasattr(module, "ModelNew"):
        raise UsageError(f"{reference} has no candidate, nor ModelNew: write one there, or give its file too.")
    contract = getattr(module, "contract", {})
    if not isinstance(contract, Mapping) or (unknown := [k for k in contract if k not in _OPTIONS]):
        wrong = f"has {unknown[0]!r}" if isinstance(contract, Mapping) else f"is a {type(contract).__name__}"
        raise UsageError(f"contract in {reference} {wrong}: expected a dict with some of {', '.join(_OPTIONS)}.")
    like, properties, probabilities = (getattr(module, name, None) for name in ("like", "properties", "probabilities"))
    like = SAMPLING if like is None and probabilities is not None else like
    if like is not None or properties is not None:
        located = Located(candidate.resolve(), "candidate", withheld=withheld)
        given = [getattr(module, name, None) for name in ("reference", "inputs", "tolerance")]
        like = given[0] if like is None else like
        return FilePair(like, located, given[1], contract, properties, given[2], probabilities)
    if hasattr(module, "Model") and hasattr(module, "get_inputs"):
        init = tuple(getattr(module, "get_init_inputs", list)())
        torch.manual_seed(seed)
        like = module.Model(*init)
        located = Located(candidate.resolve(), "ModelNew", init, withheld=withheld)
        return FilePair(like, located, lambda: [*module.get_inputs()], contract, form=ResultForm.KERNELBENCH)
    if hasattr(module, "ref_kernel") and hasattr(module, "generate_input"):
        located = Located(candidate.resolve(), "custom_kernel", withheld=withheld)
        sizes = read_sizes(reference.parent / "task.yml")

        def draw(seed: int) -> list[Any]:
            return [module.generate_input(**sizes, seed=seed)]

        return FilePair(module.ref_kernel, located, draw, contract, form=ResultForm.GPU_MODE)
    if hasattr(module, "reference") and hasattr(module, "inputs"):
        located = Located(candidate.resolve(), "candidate", withheld=withheld)
        return FilePair(module.reference, located, module.inputs, contract)
    raise UsageError(
        f"{reference} has neither form: expected reference and inputs, like, properties or probabilities, Model, "
        "get_inputs and get_init_inputs, or ref_kernel and generate_input."
    )
