"""One call of a candidate, or of the reference in the candidate's dtype: what it was given, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from opproof.harness.check.sides.backward import has_own_backward
from opproof.harness.check.sides.kept import Kept
from opproof.harness.check.tensors import CONTIGUOUS, Tensor, as_array, laid, to_torch
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.text import text_of
from opproof.vocabulary.verdicts import Verdict

#: What PyTorch says where an array is made of a tensor that requires grad.
_OF_NUMPY = "Can't call numpy() on Tensor that requires grad"

#: A candidate: PyTorch tensors in, tensors in any nesting out.
Call = Callable[[Sequence[Any]], Any]
#: A candidate's gradient: cotangents and tensors in, a gradient or None a tensor out.
Pull = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]


class Before(StrEnum):
    """What comes between a forward and the backward that counts."""

    NOTHING = "nothing"
    CALL = "another call"
    BACKWARD = "a backward through the same graph"


@dataclass(frozen=True)
class Request:
    """What a candidate is given. `after`: positions of tensors that the operation updates, which are outputs too."""

    tensors: tuple[Tensor, ...]
    cotangents: tuple[Array | None, ...] = ()  # none: outputs alone
    needs: tuple[bool, ...] = ()
    after: tuple[int, ...] = ()
    seed: int = 0
    device: str = "cpu"
    layout: str = CONTIGUOUS  # of the cotangents
    rest: tuple[Any, ...] | None = None  # what the arguments are beside tensors, where it is not as given
    before: Before = Before.NOTHING  # the backward


@dataclass(frozen=True)
class Answered:
    """One tensor that came."""

    values: Array  # float64, int64 or bool
    dtype: str
    differentiable: bool = False
    shares: int = -1  # the position of the tensor whose memory it is part of
    overlaps: bool = False  # several elements are one place of memory, as expand leaves them


@dataclass(frozen=True)
class Reply:
    """What came of a call."""

    outputs: tuple[Answered, ...] = ()
    gradients: tuple[Answered | None, ...] = ()
    changed: tuple[int, ...] = ()  # positions of tensors with other values than before
    left: tuple[Array, ...] = ()  # the tensors after the call
    error: str = ""
    cause: Verdict = Verdict.ERROR  # of the error
    declined: str = ""  # why there are no gradients
    failed: str = ""  # what asking for gradients raised
    overwritten: int = -1  # the output of the call before that no longer holds what it was
    seconds: float = 0.0
    draws: tuple[Any, ...] = ()  # the reference's random numbers, in order
    written: int = -1  # the output whose cotangent no longer holds what it was
    own_backward: bool = False  # whether its gradients are of formulas of its own, not PyTorch's of each step


def perform(call: Call, request: Request, pull: Pull | None = None, kept: Kept | None = None) -> Reply:
    """Call it. What it raises is the reply's `error`, SystemExit and a skip too; KeyboardInterrupt goes through.

    With `kept` inputs come in the memory of the call before, as a caller's do, so that who keeps results by address is
    found out, and who uses the memory of an answer again.
    """
    reply = _performed(call, request, pull, kept)
    if not (_OF_NUMPY in reply.error and request.cotangents and pull is None):
        return reply
    plain = _performed(call, replace(request, cotangents=(), needs=()), pull, kept)
    return replace(plain, declined="it is a function of NumPy, through which autograd does not see: give its vjp")


def _performed(call: Call, request: Request, pull: Pull | None, kept: Kept | None) -> Reply:
    import torch

    tensors = [to_torch(torch, t, request.device) for t in request.tensors]
    tensors = tensors if kept is None else [kept.taken(i, t) for i, t in enumerate(tensors)]
    wanted = bool(request.cotangents) and pull is None
    if wanted:
        tensors = [t.requires_grad_() if n else t for t, n in zip(tensors, request.needs, strict=True)]
    with torch.random.fork_rng(devices=[]):
        seeded = torch.default_generator if request.device == "cpu" else torch  # which formats tracebacks
        seeded.manual_seed(request.seed)
        start = time.perf_counter()
        try:
            with torch.set_grad_enabled(wanted):
                raw = flat(call(tensors))
            outputs = tuple(_answered(y, tensors) for y in (*raw, *(tensors[i] for i in request.after)))
            if request.before is Before.CALL:
                with torch.set_grad_enabled(wanted):
                    call([_otherwise(t) for t in tensors])
            gradients: tuple[Answered | None, ...] = ()
            declined, failed, written = "", "", -1
            own_backward = bool(request.cotangents) and (pull is not None or has_own_backward(raw))
            if request.cotangents:
                gs, before = list[Any](), list[Any]()
                try:
                    gs = _cotangents(torch, raw, request)
                    before = [None if g is None else g.clone() for g in gs]
                    found, declined = _gradients(torch, raw, tensors, request, gs, pull)
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # its values are judged all the same
                    found, failed = [None] * len(tensors), _first_line(error)
                gradients = tuple(None if d is None else _answered(d, tensors) for d in found)
                pairs = enumerate(zip(gs, before, strict=True))
                written = next((i for i, (g, b) in pairs if g is not None and not torch.equal(g, b)), -1)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of whatever kind, it is the candidate's
            return Reply(error=_first_line(error), seconds=time.perf_counter() - start)
    seconds = time.perf_counter() - start
    left = tuple(as_array(t)[0] for t in tensors)
    changed = changed_of(request, left)
    overwritten = -1 if kept is None else kept.overwritten(raw, tensors)
    return Reply(
        outputs, gradients, changed, left, declined=declined, failed=failed, overwritten=overwritten, seconds=seconds,
        own_backward=own_backward, written=written,
    )  # fmt: skip


def changed_of(request: Request, left: Sequence[Array]) -> tuple[int, ...]:
    """Positions of tensors that the request does not hold so. Raises ValueError where they are not as many."""
    pairs = enumerate(zip(request.tensors, left, strict=True))
    return tuple(i for i, (t, x) in pairs if not np.array_equal(t.values, x, equal_nan=x.dtype.kind == "f"))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in text_of(error).splitlines() if line.strip()] or [""]
    text = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]  # "backend='inductor' raised:" says nothing
    return f"{type(error).__name__}: {text}"


def _gradients(
    torch: Any, raw: Sequence[Any], tensors: Sequence[Any], request: Request, gs: Sequence[Any], pull: Pull | None
) -> tuple[list[Any], str]:
    """A gradient a tensor, None where none is asked for or none came."""
    count = len(request.cotangents) - len(request.after)
    if len(raw) != count:
        return [None] * len(tensors), f"{len(raw)} outputs came for {count} cotangents"
    if pull is not None:
        found = [*pull(gs, tensors)]
        return found + [None] * (len(tensors) - len(found)), ""
    pairs = [(y, g) for y, g in zip(raw, gs, strict=True) if g is not None and y.requires_grad]
    if not pairs:
        return [None] * len(tensors), "no output requires grad: autograd cannot see through the candidate"
    ys, given = zip(*pairs, strict=True)
    wanted = [t for t, n in zip(tensors, request.needs, strict=True) if n]
    if request.before is Before.BACKWARD:
        torch.autograd.grad(ys, wanted, [g.clone() for g in given], allow_unused=True, retain_graph=True)
    results = iter(torch.autograd.grad(ys, wanted, given, allow_unused=True))
    return [next(results) if n else None for n in request.needs], ""


def _otherwise(tensor: Any) -> Any:
    """The same numbers in another order, in memory of their own."""
    other = tensor.detach().flip(0) if tensor.dim() and tensor.is_floating_point() else tensor.detach().clone()
    return other.requires_grad_(tensor.requires_grad)


def _cotangents(torch: Any, raw: Sequence[Any], request: Request) -> list[Any]:
    """As tensors; None where none comes in."""
    pairs = zip(raw, request.cotangents[: len(request.cotangents) - len(request.after)], strict=False)
    return [None if g is None else _cotangent(torch, g, y, request.layout) for y, g in pairs]


def _cotangent(torch: Any, g: Array, y: Any, layout: str) -> Any:
    made = torch.from_numpy(g)
    made = torch.view_as_complex(made) if y.is_complex() else made
    return laid(torch, made.to(y.dtype).to(y.device), layout)


def flat(outputs: Any) -> list[Any]:
    """The tensors of outputs in any nesting, in order; numbers count as tensors, None does not."""
    import torch

    leaves = [y for y in _leaves(outputs) if y is not None]
    kept = [torch.as_tensor(y) if isinstance(y, int | float | np.ndarray | np.generic) else y for y in leaves]
    for y in kept:
        if not isinstance(y, torch.Tensor):
            raise TypeError(f"an output is a {type(y).__name__}: expected tensors")
    return kept


def _leaves(outputs: Any) -> Iterator[Any]:
    """The leaves of a tree, of whose nodes some may be dataclasses, which PyTorch takes for leaves."""
    from torch.utils._pytree import tree_leaves

    for leaf in tree_leaves(outputs):
        if is_dataclass(leaf) and not isinstance(leaf, type):
            for f in fields(leaf):
                yield from _leaves(getattr(leaf, f.name))
        else:
            yield leaf


def _answered(y: Any, tensors: Sequence[Any]) -> Answered:
    values, dtype = as_array(y)
    place = y.untyped_storage().data_ptr() if y.numel() and y.layout == tensors[0].layout else 0
    owners = [i for i, t in enumerate(tensors) if t is not y and t.numel() and t.untyped_storage().data_ptr() == place]
    overlaps = y.numel() > 0 and any(n > 1 and s == 0 for n, s in zip(y.shape, y.stride(), strict=True))
    return Answered(values, dtype, bool(y.requires_grad), owners[0] if owners else -1, overlaps)
