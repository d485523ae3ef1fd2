"""What a candidate, or the reference in the candidate's dtype, is given, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from opproof.core.arrays import Array
from opproof.core.verdicts import Verdict
from opproof.harness.check.sides.fences import Fence
from opproof.harness.check.sides.harm import Harm
from opproof.harness.check.sides.settings import Setting
from opproof.harness.check.tensors import CONTIGUOUS, Tensor


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
    setting: Setting = Setting.USUAL
    fence: Fence = Fence.NONE  # around its tensors, and those that PyTorch makes for it
    unseen: bool = False  # whether values are written to the tensors of the call before through `.data`
    one: tuple[int, ...] = ()  # positions of tensors that are one object, all of one kind and value

    @property
    def plain(self) -> Request:
        """The same without gradients."""
        return replace(self, cotangents=(), needs=())

    def holding(self, i: int, values: Array) -> Request:
        """The same with other values in one tensor, as they are."""
        return replace(
            self, tensors=(*self.tensors[:i], replace(self.tensors[i], values=values), *self.tensors[i + 1 :])
        )


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
    casts: tuple[tuple[int, str], ...] = ()  # the reference's own, to and from 16 bits
    written: int = -1  # the output whose cotangent no longer holds what it was
    own_backward: bool = False  # whether its gradients are of formulas of its own, not PyTorch's of each step
    harm: Harm | None = None  # what it did beside answering
