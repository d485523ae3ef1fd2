"""A reference and a candidate in files, in our form or in KernelBench's.

Ours: `reference(*tensors)` and `inputs(seed, dtype)`; `candidate(*tensors)`. KernelBench's: `Model`, `get_inputs` and
`get_init_inputs`; `ModelNew`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.core.errors import UsageError
from opproof.harness.check.sides.isolated import Located
from opproof.harness.check.sides.served import loaded


@dataclass(frozen=True)
class Pair:
    """What is compared, and for which inputs."""

    like: Any
    candidate: Located
    inputs: Callable[..., Any]


def pair(reference: Path, candidate: Path, seed: int) -> Pair:
    """The sides in two files. Raises UsageError where the reference cannot be loaded or has neither form."""
    import torch

    for file in (reference, candidate):
        if not file.is_file():
            raise UsageError(f"there is no file {file}: give a reference and a candidate, two Python files.")
    withheld = None if reference.resolve() == candidate.resolve() else reference.resolve()
    try:
        module = loaded(reference)
    except Exception as error:
        raise UsageError(f"{reference} could not be loaded: {type(error).__name__}: {error}") from error
    if withheld is None and not hasattr(module, "candidate") and not hasattr(module, "ModelNew"):
        raise UsageError(f"{reference} has no candidate, nor ModelNew: write one there, or give its file too.")
    if hasattr(module, "Model") and hasattr(module, "get_inputs"):
        init = tuple(getattr(module, "get_init_inputs", list)())
        torch.manual_seed(seed)
        like = module.Model(*init)
        return Pair(
            like, Located(candidate.resolve(), "ModelNew", init, withheld=withheld), lambda: list(module.get_inputs())
        )
    if hasattr(module, "reference") and hasattr(module, "inputs"):
        return Pair(module.reference, Located(candidate.resolve(), "candidate", withheld=withheld), module.inputs)
    raise UsageError(
        f"{reference} has neither form: expected reference and inputs, or Model, get_inputs and get_init_inputs."
    )
