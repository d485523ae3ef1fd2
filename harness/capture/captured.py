"""What a program or a model called: cases of ours with how often and at what cost, and what is none of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from opproof.cases import Case
from opproof.cases._fills.fills import name_fill
from opproof.cases._layouts import name_layout
from opproof.reference_ops._tape import Tape
from opproof.reference_ops._taped_graphs import NotExpressible, TapedGraph, express_neighbourhoods, express_whole
from opproof.reference_ops._torch_calls import DTYPE_NAMES, CallCounts, OperatorCall


@dataclass
class CapturedCalls:
    """What a program called: cases of ours, and functions that are no operator of ours."""

    cases: dict[Case, CallCounts] = field(default_factory=dict)
    data: dict[Case, Mapping[str, Any]] | None = None  # the tensors of each case's first call, where they are kept
    unmapped: Counter[str] = field(default_factory=Counter)
    no_whole: str = ""  # why the whole is no graph, where it was to be one and is none
    tape: Tape | None = None  # on which every call is noted, where they are to be made again

    @property
    def total(self) -> int:
        """How many calls there were."""
        return sum(c.calls for c in self.cases.values()) + self.unmapped.total()

    def add_graphs(self, tape: Tape) -> None:
        """Add the neighbourhoods of a model on tape and the whole of it as graphs, with their tensors if asked for."""
        found = [*express_neighbourhoods(tape)]
        try:
            found.append(express_whole(tape))
        except NotExpressible as error:
            self.no_whole = str(error)
        for graph in found:
            case = case_of_graph(graph)
            if self.data is not None:
                self.data.setdefault(case, {n: t.detach().clone() for n, t in graph.tensors.items()})
            self.cases.setdefault(case, CallCounts()).calls += 1


def case_of_graph(graph: TapedGraph) -> Case:
    """The case of a graph, whose tensors lie row by row."""
    return Case(graph.text, tuple((n, tuple(t.shape)) for n, t in graph.tensors.items()), (), graph.dtype)


def case_of(call: OperatorCall) -> Case | None:
    """The case; None where no case is like it: no floats, or results that would be like none of them."""
    floats = {n: DTYPE_NAMES.get(str(t.dtype)) for n, t in call.tensors.items() if t.is_floating_point()}
    like = call.op.like if not call.op.variadic else next(iter(call.tensors))
    dtype = next(iter(floats.values()), None) if len(set(floats.values())) == 1 else floats.get(like)
    if dtype is None or None in floats.values():
        return None
    tensors: dict[str, Any] = {}
    known: dict[int, str] = {}
    for name, tensor in call.tensors.items():
        tensors[name] = known.get(id(tensor), tuple(tensor.shape))
        known.setdefault(id(tensor), name)
    if not all(_is_plain(v) for v in call.params.values()):
        return None
    return Case(
        call.op.name,
        tuple(tensors.items()),
        tuple(call.params.items()),
        dtype,
        mixed=tuple((n, d) for n, d in floats.items() if d is not None and d != dtype and tensors[n] not in tensors),
        fill=name_fill(
            next(t for t in call.tensors.values() if t.is_floating_point()).detach().double().numpy(force=True)
        ),
        layout=_layouts_of(call),
        needs=_needs(call),
    )


def as_computed(call: OperatorCall, case: Case, result: Any) -> Case | None:
    """The case by the dtype of what came; None where it came in one that results of such a case have not.

    Under autocast tensors are converted to one dtype, where PyTorch would not take them together or gives another.
    """
    import torch

    came = DTYPE_NAMES.get(str(result.dtype)) if result.is_floating_point() else case.dtype
    if came is not None and torch.is_autocast_enabled(result.device.type):
        converted = came != case.dtype or (bool(case.mixed) and not _is_taken(call, result.device.type))
        return replace(case, dtype=came, mixed=()) if converted else case
    return case if came == case.dtype or not case.mixed else None


def _is_taken(call: OperatorCall, device: str) -> bool:
    """Whether PyTorch takes tensors of such dtypes together by itself."""
    import torch

    with torch.no_grad(), torch.autocast(device, enabled=False):
        try:
            call.twin()
        except (RuntimeError, ValueError):
            return False
    return True


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(v) for v in value)
    return value is None or isinstance(value, bool | int | float | str)


def _layouts_of(call: OperatorCall) -> str:
    named = {n: name_layout(tuple(t.shape), t.stride(), t.storage_offset()) for n, t in call.tensors.items()}
    apart = {n: layout for n, layout in named.items() if layout != "contiguous"}
    if apart and len(apart) == len(named) and len(set(apart.values())) == 1:
        return next(iter(apart.values()))
    return ",".join(f"{n}:{layout}" for n, layout in apart.items()) or "contiguous"


def _needs(call: OperatorCall) -> tuple[str, ...] | None:
    """The tensors whose gradient the program asks for, where it asks for some and not for all."""
    import torch

    floats = {n: t.requires_grad for n, t in call.tensors.items() if t.is_floating_point()}
    if not torch.is_grad_enabled() or all(floats.values()) or not any(floats.values()):
        return None
    return tuple(n for n, wanted in floats.items() if wanted)
