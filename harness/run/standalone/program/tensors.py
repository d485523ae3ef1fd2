"""What a program of its own does with a kernel: import it, call it, keep what comes.

It is run as the text of a command, and knows nothing of who asks: no import of this package, no name of it.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: Calls between the first answers and the last, and the seconds in which they begin.
CALLS_BETWEEN_ANSWERS = 40
CALLING_SECONDS = 0.5


def walk_leaves(y: Any) -> Iterator[Any]:
    """The tensors of what came, in order."""
    import torch
    from torch.utils._pytree import tree_leaves

    for leaf in tree_leaves(y):
        if dataclasses.is_dataclass(leaf):
            for field in dataclasses.fields(leaf):
                yield from walk_leaves(getattr(leaf, field.name))
        elif leaf is not None:
            yield torch.as_tensor(leaf)


def keep(path: str, y: Any) -> str:
    """Save a tensor; its dtype."""
    import torch

    y = y.detach().cpu()
    plain = torch.view_as_real(y.resolve_conj()) if y.is_complex() else y
    np.save(path, (plain.double() if plain.is_floating_point() else plain).numpy())
    return str(y.dtype)


def as_of(y: Any, g: Any) -> Any:
    """A cotangent in the dtype of its output; a complex one comes by its parts."""
    import torch

    return (torch.view_as_complex(g) if y.is_complex() else g).to(y.device, y.dtype)


def call_subject(subject: Any, job: dict[str, Any], tensors: list[Any]) -> Any:
    """What a function gives, or a class's module with these parameters and buffers, the last of the tensors."""
    import torch

    if job["made_with"] is None:
        return subject(*job["given"], **job["named"])
    module = subject(*job["made_with"])
    module = module.eval() if job["evaluation"] else module
    state = dict(zip(job["state"], tensors[len(tensors) - len(job["state"]) :], strict=True))
    return torch.func.functional_call(module, state, tuple(job["given"]), job["named"], strict=True)


def call_once(subject: Any, job: dict[str, Any], path: str) -> dict[str, Any]:
    """Call it once."""
    import torch

    tensors = [t.requires_grad_() if need else t for t, need in zip(job["tensors"], job["needs"], strict=True)]
    torch.manual_seed(job["seed"])
    raw = list(walk_leaves(call_subject(subject, job, tensors)))
    outputs = [keep(f"{path}y{i}.npy", y) for i, y in enumerate((*raw, *(tensors[i] for i in job["after"])))]
    given = zip(raw, job["cotangents"], strict=False)
    pairs = [(y, as_of(y, g)) for y, g in given if g is not None and y.requires_grad]
    if not pairs:
        return {"outputs": outputs, "gradients": []}
    ys, gs = zip(*pairs, strict=True)
    wanted = [t for t, need in zip(tensors, job["needs"], strict=True) if need]
    found = iter(torch.autograd.grad(ys, wanted, gs, allow_unused=True))
    made = [next(found) if need else None for need in job["needs"]]
    return {
        "outputs": outputs,
        "gradients": [None if d is None else keep(f"{path}d{i}.npy", d) for i, d in enumerate(made)],
    }


def main(folder: str, module: str, name: str, there: str, count: str) -> None:
    """Answer what lies there, and once more after many calls, and leave the answers beside it."""
    sys.path.insert(0, folder)
    subject = getattr(importlib.import_module(module), name)
    for k in range(int(count)):
        save_answer(subject, there, k)
    until = time.monotonic() + CALLING_SECONDS
    for turn in range(CALLS_BETWEEN_ANSWERS):
        if time.monotonic() > until:
            break
        call_once(subject, job_of(there, turn % int(count)), f"{there}/between")
    for k in range(int(count)):
        save_answer(subject, there, k, "late")


def save_answer(subject: Any, there: str, k: int, when: str = "") -> None:
    """Answer one, and say what came."""
    told = call_once(subject, job_of(there, k), f"{there}/{k}{when}")
    Path(f"{there}/{k}{when}.json").write_text(json.dumps(told), encoding="utf-8")


def job_of(there: str, k: int) -> dict[str, Any]:
    """What is asked, in tensors of its own."""
    import torch

    job: dict[str, Any] = torch.load(f"{there}/{k}.pt", weights_only=False)
    return job


if __name__ == "__main__":
    main(*sys.argv[1:])
