"""Copies in the place of what a candidate may write by its contract, and what it wrote held against what it returned.

All else is watched as ever. A copy lies as its tensor does, gaps between rows included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import BeforeBackward, CallRequest, Reply, Setting, are_alike
from opproof.harness.check.call.guard_regions import Fence
from opproof.harness.check.call.side_effects import SideEffect, find_bytes_beside
from opproof.harness.check.contract import GRAD_POSITION, Contract
from opproof.harness.check.tensors import as_array, flatten_outputs

#: PyTorch's own nodes of a graph: of its operators, of leaves, of views and copies, and of what it has compiled.
_OF_TORCH = re.compile(r"\w+Backward\d+|AccumulateGrad|CopySlices|CompiledFunctionBackward|torch::autograd::\w+")
#: What is said of a second backward where one is declared.
_SECOND_BACKWARD = "a second backward through the same graph gives other gradients, and does not raise"


@dataclass
class StandIns:
    """A candidate that is given copies of what a request lets it write, by position."""

    call: Callable[[Sequence[Any]], Any]
    request: CallRequest
    copies: dict[int, Any] = field(default_factory=dict)
    beside: dict[int, Any] = field(default_factory=dict)  # the bytes between rows of each, and around it
    harm: SideEffect | None = None

    def __call__(self, tensors: Sequence[Any]) -> Any:
        """What it returns, in the order of outputs; where it returns nothing, what it wrote."""
        import torch

        request = self.request
        if not (request.inplace or request.overwrites):
            return self.call(tensors)
        places = [i for i in (*request.inplace, *request.overwrites) if i != GRAD_POSITION]
        copies = {i: _make_copy(torch, tensors[i]) for i in places}
        beside = {i: find_bytes_beside(torch, t) for i, t in copies.items()}
        versions = {i: _version_of(t) for i, t in copies.items()}
        ys = flatten_outputs(self.call([copies.get(i, t) for i, t in enumerate(tensors)]))
        ys = ys or [copies[i] for i in request.inplace]
        for k, i in enumerate(request.inplace[: len(ys)]):
            names = request.tensors[i].name, f"y{k}"
            self.harm = self.harm or _compare_held(names, copies[i], ys[k], tensors[i])
            told = _version_of(copies[i]) != versions[i] or _is_same(copies[i], tensors[i])
            untold = not told and not has_own_backward(ys[k : k + 1])
            if untold and ys[k].untyped_storage().data_ptr() == copies[i].untyped_storage().data_ptr():
                ys[k] = ys[k].detach()  # autograd was not told of what was written
        self.copies, self.beside = copies, beside  # of the last call: others may run beside it
        for y in ys if GRAD_POSITION in request.overwrites else ():
            if y.requires_grad:
                y.register_hook(lambda g: g if g is None else _make_copy(torch, g, stretched=True))
        return ys

    def in_place_of(self, tensors: Sequence[Any]) -> list[Any]:
        """The tensors that the last call was given in the place of these."""
        return [self.copies.get(i, t) for i, t in enumerate(tensors)]

    def pull(self, pull: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """A candidate's own gradient, given copies alike."""
        import torch

        request = self.request
        if pull is None or not (request.inplace or request.overwrites):
            return pull
        own = pull

        def called(gs: Sequence[Any], tensors: Sequence[Any]) -> Any:
            written = GRAD_POSITION in request.overwrites
            some = [g if g is None or not written else _make_copy(torch, g, stretched=True) for g in gs]
            places = (*request.inplace, *request.overwrites)
            return own(some, [_make_copy(torch, t) if i in places else t for i, t in enumerate(tensors)])

        return called

    def find_harm(self) -> SideEffect | None:
        """What the last call did to its copies that no contract lets it do."""
        import torch

        for i, before in self.beside.items():
            if before is not None and not torch.equal(before, find_bytes_beside(torch, self.copies[i])):
                name = self.request.tensors[i].name
                text = f"memory between the rows of {name} was written, or beside it: {name} is part of a larger tensor"
                return SideEffect(Verdict.INPUT_CHANGED, text)
        return self.harm


def _compare_held(names: tuple[str, str], held: Any, y: Any, given: Any) -> SideEffect | None:
    """What is said where an argument, the first name, does not hold the result that is returned, the second."""
    if y is held or _is_same(y, held):
        return None
    argument, name = names
    if _is_same(held, given):
        text = f"{argument} holds what it was given: inplace declares that it holds {name} afterwards"
        return SideEffect(Verdict.NOT_WRITTEN, text)
    text = f"{argument} holds other values than {name} that is returned, and inplace declares that it holds {name}"
    return SideEffect(Verdict.WRONG_VALUE, text)


def _make_copy(torch: Any, t: Any, *, stretched: bool = False) -> Any:
    """A tensor of the same values and strides in memory of its own, by autograd a copy.

    Elements that share their place get places of their own, unless `stretched`: nobody writes a result there.
    """
    if t.layout != torch.strided or (0 in t.stride() and not stretched):
        return t.clone(memory_format=torch.contiguous_format)
    with torch.no_grad():
        whole = t.detach().as_strided((t.untyped_storage().nbytes() // t.element_size(),), (1,), 0).clone()
        made = torch.empty(0, dtype=t.dtype, device=t.device)
        made.set_(whole.untyped_storage(), whole.storage_offset() + t.storage_offset(), t.shape, t.stride())
    if t.requires_grad and torch.is_grad_enabled():
        made.copy_(t)
    return made


def _version_of(t: Any) -> int:
    """How often PyTorch saw it written; of tensors of inference, which it does not count, 0."""
    return 0 if t.is_inference() else int(t._version)  # noqa: SLF001 - it has no other name


def _is_same(a: Any, b: Any) -> bool:
    """Whether two tensors hold the same numbers in order, whatever their shapes."""
    if a.dtype != b.dtype or a.numel() != b.numel():
        return False
    x, y = (as_array(t)[0].ravel() for t in (a, b))
    return np.array_equal(x, y, equal_nan=x.dtype.kind == "f")


def has_own_backward(outputs: Sequence[Any]) -> bool:
    """Whether the graph of outputs, which are tensors of PyTorch, has a node that is not PyTorch's own."""
    left = [y.grad_fn for y in outputs if y.grad_fn is not None]
    seen = set(left)
    while left:
        node = left.pop()
        if not _OF_TORCH.fullmatch(node.name()):
            return True
        new = {n for n, _ in node.next_functions if n is not None} - seen
        seen |= new
        left += new
    return False


@dataclass
class ContractedCalls:
    """Requests to a candidate under its contract; `notes`: what is no failure by it, and told."""

    ask: Callable[[CallRequest], Reply]
    contract: Contract
    notes: dict[str, None] = field(default_factory=dict)

    def __call__(self, request: CallRequest) -> Reply:
        """The reply; as of one who raises at sizes that are to be refused, which no candidate is asked for."""
        contract = self.contract
        if why := contract.describe_refusal(request.tensors):
            return Reply(error=f"ValueError: {why}")
        positions = (contract.find_positions(some, request.tensors) for some in (contract.inplace, contract.overwrites))
        inplace, overwrites = (tuple(i for i in some if i not in request.after) for some in positions)
        request = replace(request, inplace=inplace, overwrites=overwrites)
        if contract.backwards == 1 and request.before is BeforeBackward.BACKWARD:
            return self._ask_once(request)
        return self._allow_sharing(self.ask(request), request)

    def _ask_once(self, request: CallRequest) -> Reply:
        """The reply of a first backward; told where a second is another."""
        first, second = self.ask(replace(request, before=BeforeBackward.NOTHING)), self.ask(request)
        if not (second.error or second.failed or are_alike(first.gradients, second.gradients)):
            self.notes[_SECOND_BACKWARD] = None
        return self._allow_sharing(first, request)

    def _allow_sharing(self, reply: Reply, request: CallRequest) -> Reply:
        """The reply, its results in memory that it may write as in memory of their own."""
        usual = request.setting is Setting.USUAL and request.fence is Fence.NONE
        for k, (i, y) in enumerate(zip(request.inplace, reply.outputs, strict=False)):
            if usual and y.shares != i and y.values.size and not (reply.error or reply.harm):
                name = request.tensors[i].name
                self.notes[f"y{k} comes in memory of its own, and {name} holds the same"] = None
        loose = {*request.inplace, *request.overwrites}
        outputs = tuple(replace(y, shares=-1) if y.shares in loose else y for y in reply.outputs)
        return replace(reply, outputs=outputs)
