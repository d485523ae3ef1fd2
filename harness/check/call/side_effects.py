"""What a call does to its caller beside its answer: tensors moved, memory beside them written, settings left."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from opproof.core.verdicts import Verdict


@dataclass(frozen=True)
class SideEffect:
    """One thing that the caller finds otherwise than it was."""

    verdict: Verdict
    text: str


class ClassMethods(NamedTuple):
    """What a class has of its own, by name; the names, and the identity of each, in their order."""

    of: Any
    own: Mapping[str, Any]
    names: Sequence[str]
    ids: Sequence[int]


@dataclass(frozen=True)
class Watch:
    """What a caller had before a call."""

    names: tuple[str, ...]
    places: tuple[Any, ...]  # of each tensor its memory, shape and strides
    around: tuple[Any, ...]  # of each that is part of a larger one what else is in that, None of others
    settings: Mapping[str, Any]
    graded: bool  # leaves had a .grad already, of zeros

    def find_harm(self, torch: Any, tensors: Sequence[Any], after: Sequence[int]) -> SideEffect | None:
        """What is otherwise now, the first of it; `after`: tensors that the operation updates."""
        for i, (name, t) in enumerate(zip(self.names, tensors, strict=True)):
            if i not in after and _place(t) != self.places[i]:
                return SideEffect(Verdict.INPUT_CHANGED, f"{name} was given other memory, shape or strides")
            beside = self.around[i]
            if beside is not None and not torch.equal(beside, find_bytes_beside(torch, t)):
                text = f"memory between the rows of {name} was written, or beside it: {name} is part of a larger tensor"
                return SideEffect(Verdict.INPUT_CHANGED, text)
            if t.is_leaf and t.grad is not None and (not self.graded or bool(t.grad.any())):
                text = f"{name}.grad was written beside the gradient that is returned: backward() adds both"
                return SideEffect(Verdict.INPUT_CHANGED, text)
        for name in _restore_methods(torch):
            text = f"torch.Tensor.{name} was replaced: results are read by it"
            return SideEffect(Verdict.INPUT_CHANGED, text)
        for name, now in _restore_settings(torch, self.settings).items():
            text = f"{name} was {self.settings[name]} before the call and is {now} after it"
            return SideEffect(Verdict.INPUT_CHANGED, text)
        return None


def watch(torch: Any, tensors: Sequence[Any], names: Sequence[str], *, graded: bool = False) -> Watch:
    """What there is before a call; `graded`: each leaf has a .grad, as where gradients of several batches add up."""
    for t in tensors:
        if t.is_leaf:
            able = graded and t.requires_grad and t.layout == torch.strided
            t.grad = torch.zeros_like(t) if able else None
    around = tuple(find_bytes_beside(torch, t) for t in tensors)
    return Watch(tuple(names), tuple(map(_place, tensors)), around, _read_settings(torch), graded)


def _place(t: Any) -> tuple[Any, ...]:
    return (t.data_ptr(), tuple(t.shape), t.stride())


def find_bytes_beside(torch: Any, t: Any) -> Any:
    """The bytes of a larger tensor that are not of this part of it; None where it is no part."""
    count = t.untyped_storage().nbytes() // t.element_size()
    if t.layout != torch.strided or count <= t.numel() or 0 in t.stride():
        return None
    free = torch.ones(count, dtype=torch.bool, device=t.device)
    free.as_strided(t.shape, t.stride(), t.storage_offset()).fill_(False)
    return t.detach().as_strided((count,), (1,), 0)[free].view(torch.uint8)


@cache
def record_methods(torch: Any) -> tuple[ClassMethods, ...]:
    """What PyTorch's tensors can do, as it was when this was first asked, by class."""
    some = ((of, dict(vars(of))) for of in (torch.Tensor, torch.Tensor.__base__))
    return tuple(ClassMethods(of, own, [*own], [*map(id, own.values())]) for of, own in some)


def _restore_methods(torch: Any) -> list[str]:
    """Methods that are others now; they are set back."""
    found = []
    for of, own, names, ids in record_methods(torch):
        now = vars(of)
        if [*map(id, now.values())] == ids and [*now] == names:  # at every call, of hundreds
            continue
        other = [name for name, value in own.items() if now.get(name) is not value]
        hidden = (
            set() if len(now) == len(own) else {name for name in now if name not in own and hasattr(of.__base__, name)}
        )
        for name in other:
            setattr(of, name, own[name])
        for name in hidden:
            delattr(of, name)
        found += [*other, *sorted(hidden)]
    return found


@contextlib.contextmanager
def settings_kept(torch: Any) -> Iterator[None]:
    """A block after which all settings are what they were."""
    enabled, before = torch.is_grad_enabled(), _read_settings(torch)
    try:
        yield
    finally:
        torch.set_grad_enabled(enabled)
        _restore_settings(torch, before)


def _restore_settings(torch: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that were others, which are set back; what each was until now."""
    now = _read_settings(torch)
    other = {name: now[name] for name, value in before.items() if now[name] != value}
    for name in other:
        _SETTINGS[name][1](torch, before[name])
    return other


@cache
def _load_libm() -> Any:
    return ctypes.CDLL(ctypes.util.find_library("m"))


#: What all of a process shares, or a thread, and a kernel may set for itself and leave so: how it is read, and set.
_SETTINGS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "torch.get_default_dtype()": (lambda t: t.get_default_dtype(), lambda t, v: t.set_default_dtype(v)),
    "torch.get_num_threads()": (lambda t: t.get_num_threads(), lambda t, v: t.set_num_threads(v)),
    "torch.get_float32_matmul_precision()": (
        lambda t: t.get_float32_matmul_precision(),
        lambda t, v: t.set_float32_matmul_precision(v),
    ),
    "torch.are_deterministic_algorithms_enabled()": (
        lambda t: t.are_deterministic_algorithms_enabled(),
        lambda t, v: t.use_deterministic_algorithms(v),
    ),
    "torch.initial_seed()": (
        lambda t: t.default_generator.initial_seed(),
        lambda t, v: t.default_generator.manual_seed(v),
    ),
    "torch.set_flush_denormal": (
        lambda _: bool(np.float32(1e-40) * np.float32(0.5) == 0),
        lambda t, v: t.set_flush_denormal(v),
    ),
    "fegetround()": (lambda _: _load_libm().fegetround(), lambda _, v: _load_libm().fesetround(v)),
    "numpy.geterr()": (lambda _: np.geterr(), lambda _, v: np.seterr(**v)),
    "the working directory": (lambda _: Path.cwd(), lambda _, v: os.chdir(v)),
}


def _read_settings(torch: Any) -> dict[str, Any]:
    return {name: get(torch) for name, (get, _) in _SETTINGS.items()}
