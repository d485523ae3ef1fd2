"""Everything that `opproof run` was asked, as it stands in the header of its results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.harness.reference.chunks.memory_budget import MEMORY
from opproof.harness.run.cache.place import SIZE
from opproof.harness.run.limits import HOST_MEMORY, TIMEOUT
from opproof.harness.run.plan import Selection


@dataclass(frozen=True)
class Settings:
    """What to run on which backends, how to judge it, and where to leave it."""

    backends: tuple[str, ...]
    selection: Selection
    jobs: int = 2
    timeout: float = TIMEOUT  # seconds a case
    memory: int = HOST_MEMORY // 2**20  # MiB, of a host
    judge_memory: int = MEMORY // 2**20  # MiB, of judging one case
    convention: str = "any"
    grad_oracle: str = "reference"
    strict_subnormals: bool = False
    repeat: int = 1
    batch_invariant: bool = False
    threads: tuple[int, ...] = ()
    isa: tuple[str, ...] = ()  # vector capabilities that each backend is to run under, or "all"
    isa_variables: tuple[str, ...] = ()  # capabilities as variables of the library's own: GGML_CPU=avx2
    in_process: bool = False  # the backend in the judge's own process
    ledger: Path | None = None
    out: Path = Path("opproof-report")
    quiet: bool = False
    resume: bool = False
    proposals: Path | None = None  # the ledger that unexpected failures are proposed to
    cache: bool = True
    cache_size: int = SIZE // 2**20  # MiB
    dask: str = ""  # address of a scheduler, or "local"; empty: judges on this machine
    resources: tuple[tuple[str, float], ...] = ()  # that a worker must offer, by name


def options(settings: Settings) -> dict[str, Any]:
    """The options that the header records: all that the records depend on."""
    selection = settings.selection
    return {
        "backends": list(settings.backends),
        "selection": {name: getattr(selection, name) for name in selection.__dataclass_fields__},
        "jobs": settings.jobs,
        "timeout": settings.timeout,
        "memory": settings.memory,
        "judge_memory": settings.judge_memory,
        "convention": settings.convention,
        "grad_oracle": settings.grad_oracle,
        "strict_subnormals": settings.strict_subnormals,
        "repeat": settings.repeat,
        "batch_invariant": settings.batch_invariant,
        "threads": list(settings.threads),
        "in_process": settings.in_process,
        "known": str(settings.ledger.resolve()) if settings.ledger else "",
    }
