"""A request to a candidate and its reply, the settings a call is made in, and two replies beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from opproof.core.arrays import Array, has_same_bits
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.guard_regions import Fence
from opproof.harness.check.call.side_effects import SideEffect
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor

#: More than most machines that run a check would give, and than many kernels have room for sums of.
SEVERAL_THREADS = 5
MAX_THREADS = 33
#: Calls that may follow while a result is held.
HELD = 5000


class Setting(StrEnum):
    """How it is made; the value is how that is said."""

    USUAL = ""
    REWRITTEN = "right after a call with other numbers in the same memory"
    RENEWED = "right after a call with other tensors at the same addresses, as memory that was freed has"
    THREAD = "on another thread"
    CONSTANT = "where autograd is on and no tensor requires a gradient"
    INFERENCE = "under torch.inference_mode()"
    ONE = "with one thread (torch.set_num_threads)"
    TWO = "with 2 threads (torch.set_num_threads)"
    MANY = f"with {SEVERAL_THREADS} threads (torch.set_num_threads)"
    MOST = f"with {MAX_THREADS} threads (torch.set_num_threads)"
    LATE = "where its inputs are overwritten once it has returned"
    HELD = f"where it is held while up to {HELD:,} calls follow"
    AGAIN = "in a second call, without a new seed"
    WRITTEN = "where its inputs are written in place between its forward and its backward"
    NET = "as a layer of a network, with a trained weight and a loss behind it"
    AUTOCAST = "under torch.autocast"
    BESIDE = "while another thread calls it with other numbers"


class BeforeBackward(StrEnum):
    """What comes between a forward and the backward that counts."""

    NOTHING = "nothing"
    CALL = "another call"
    BACKWARD = "a backward through the same graph"


@dataclass(frozen=True)
class CallRequest:
    """What a candidate is given. `after`: positions of tensors that the operation updates, which are outputs too."""

    tensors: tuple[CallTensor, ...]
    cotangents: tuple[Array | None, ...] = ()  # none: outputs alone
    needs: tuple[bool, ...] = ()
    after: tuple[int, ...] = ()
    seed: int = 0
    device: str = "cpu"
    layout: str = CONTIGUOUS  # of the cotangents
    rest: tuple[Any, ...] | None = None  # what the arguments are beside tensors, where it is not as given
    before: BeforeBackward = BeforeBackward.NOTHING  # the backward
    setting: Setting = Setting.USUAL
    fence: Fence = Fence.NONE  # around its tensors, and those that PyTorch makes for it
    unseen: bool = False  # whether values are written to the tensors of the call before through `.data`
    one: tuple[int, ...] = ()  # positions of tensors that are one object, all of one kind and value
    inplace: tuple[int, ...] = ()  # positions of tensors that are to hold the outputs, in their order
    overwrites: tuple[int, ...] = ()  # positions of those that may hold anything afterwards; -1: the cotangents
    repeats: int = 0  # calls that are timed and not looked at, where there are any

    @property
    def plain(self) -> CallRequest:
        """The same without gradients."""
        return replace(self, cotangents=(), needs=())

    def holding(self, i: int, values: Array) -> CallRequest:
        """The same with other values in one tensor, as they are."""
        return replace(
            self, tensors=(*self.tensors[:i], replace(self.tensors[i], values=values), *self.tensors[i + 1 :])
        )


@dataclass(frozen=True)
class ReplyTensor:
    """One tensor that came."""

    values: Array  # float64, int64 or bool
    dtype: str
    differentiable: bool = False
    shares: int = -1  # the position of the tensor whose memory it is part of
    overlaps: bool = False  # several elements are one place of memory, as expand leaves them


@dataclass(frozen=True)
class Reply:
    """What came of a call."""

    outputs: tuple[ReplyTensor, ...] = ()
    gradients: tuple[ReplyTensor | None, ...] = ()
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
    harm: SideEffect | None = None  # what it did beside answering


#: Of the largest element, more than rounding: it is far below, in 16 bits too.
_MAX_ROUNDING_SHARE = 0.05


def are_alike(a: Sequence[ReplyTensor | None], b: Sequence[ReplyTensor | None]) -> bool:
    """Whether two replies have the same bits."""
    pairs = zip(a, b, strict=True) if len(a) == len(b) else []
    same = (x is y if x is None or y is None else has_same_bits(x.values, y.values) for x, y in pairs)
    return len(a) == len(b) and all(same)


def is_near(a: ReplyTensor | None, b: ReplyTensor | None, other: float = _MAX_ROUNDING_SHARE) -> bool:
    """Whether rounding alone may part two tensors: by no `other` part of the largest; integers in few places."""
    if a is None or b is None or a.values.shape != b.values.shape:
        return a is b
    if a.values.dtype.kind != "f":
        return bool(np.mean(a.values != b.values) <= other) if a.values.size else True
    with np.errstate(all="ignore"):
        off = np.abs(a.values - b.values) > other * np.max(np.abs(a.values), where=np.isfinite(a.values), initial=0.0)
    return not bool(np.any(off & np.isfinite(a.values)))


def are_all_near(
    a: Sequence[ReplyTensor | None], b: Sequence[ReplyTensor | None], other: float = _MAX_ROUNDING_SHARE
) -> bool:
    """Whether two replies have as many tensors, and rounding alone may part each pair."""
    return len(a) == len(b) and all(is_near(x, y, other) for x, y in zip(a, b, strict=True))


#: Exceptions by which one says so.
_COMPLAINTS = frozenset(("AssertionError", "NotImplementedError", "TypeError", "ValueError"))


def is_complaint(message: str) -> bool:
    """Whether `message`, an exception's name and text, is such a one."""
    return message.partition(":")[0] in _COMPLAINTS
