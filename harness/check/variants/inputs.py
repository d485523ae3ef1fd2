"""The inputs of a check, as they are given: shapes, tensors, or a function that makes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from opproof.core.errors import UsageError
from opproof.harness.check.call.exchange import CallRequest
from opproof.harness.check.call.reference import Native
from opproof.harness.check.call.subject import Arguments, is_statistic, replace_generator
from opproof.harness.check.call.user_classes import look_into
from opproof.harness.check.tensors import CallTensor, dtype_name_of, take_tensor
from opproof.harness.check.variants.properties import find_properties, restore_properties

#: Letters of what was given in place of a list; more is a type's name.
_MAX_SHOWN_LETTERS = 60


def is_shape(value: Any) -> bool:
    """Whether it is a tuple of integers: a tensor of floats of this shape."""
    return isinstance(value, tuple) and all(isinstance(n, int) and not isinstance(n, bool) for n in value)


def take_inputs(
    inputs: Any, names: Sequence[str], dtype: str | None, seed: int
) -> tuple[Arguments, tuple[CallTensor, ...], bool]:
    """Arguments, their tensors, and whether all are drawn by shape; other seeds draw other data.

    What a function makes beside tensors is an argument, also a tuple of integers (`stride=(2, 1)`); where it makes
    some floats in `dtype` and others not, these stay as they are. Raises UsageError where `inputs` is none of what it
    may be.
    """
    from torch.utils._pytree import tree_flatten

    values = call_factory(inputs, seed, dtype) if callable(inputs) else inputs
    keywords: tuple[str, ...] = ()
    if isinstance(values, dict) and all(isinstance(name, str) for name in values):
        names = keywords = tuple(values)
        values = list(values.values())
    if is_shape(values) or hasattr(values, "shape"):
        values = [values]
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise UsageError(
            f"inputs is {_describe_value(values)}: expected a list of shapes or tensors, in the order of the "
            "arguments, a dict of arguments by name, or a function that returns either."
        )
    look_into(values)
    rng = np.random.default_rng([seed, 1])
    chosen = callable(inputs) and any(map(_is_tensor, tree_flatten(tuple(values))[0]))
    drawn = [_draw_tensor(v, dtype, rng) if is_shape(v) and not chosen else v for v in values]
    leaves, spec = tree_flatten(tuple(drawn))
    places = [i for i, v in enumerate(leaves) if _is_tensor(v)]
    kinds = {str(leaves[i].dtype).removeprefix("torch.") for i in places}
    if callable(inputs) and dtype is not None and dtype_name_of(dtype) in kinds:
        dtype = None
    if not places:
        raise UsageError("inputs has no tensor: give at least one shape or tensor.")
    arguments = Arguments(
        tuple(None if _is_tensor(v) else replace_generator(v) for v in leaves), tuple(places), spec, keywords
    )
    every = arguments.labels(names)
    labels = [every[i] if every else f"x{k}" for k, i in enumerate(places)]
    tensors = tuple(take_tensor(label, leaves[i], dtype) for label, i in zip(labels, places, strict=True))
    by_shape = not callable(inputs) and all(is_shape(v) or not _is_tensor(v) for v in values)
    return arguments, _vary_tensors(tensors, values, inputs, seed), by_shape


def call_factory(factory: Callable[..., Any], seed: int, dtype: str | None) -> Any:
    """What a factory makes: called with `seed` and `dtype` where it takes them, its random numbers seeded.

    Raises UsageError where it wants more.
    """
    import torch

    offered = {"seed": seed, "dtype": getattr(torch, dtype_name_of(dtype or "f32"))}
    try:
        signature = inspect.signature(factory).parameters
    except ValueError:
        signature = {}  # type: ignore[assignment]
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    wanted = [p.name for p in signature.values() if p.default is p.empty and p.kind not in variadic]
    if len(wanted) == 1 and wanted[0] not in offered:  # one parameter can only be the seed, whatever it is called
        offered[wanted[0]] = seed
    if others := [name for name in wanted if name not in offered]:
        raise UsageError(
            f"inputs is a function that wants {others[0]!r}: expected one that takes nothing, or seed and dtype; give "
            "other parameters a default, or bind them with functools.partial."
        )
    with seeded(torch, seed):
        return factory(**{k: v for k, v in offered.items() if k in signature})


def _draw_tensor(shape: tuple[int, ...], dtype: str | None, rng: np.random.Generator) -> Any:
    import torch

    return torch.from_numpy(rng.standard_normal(shape)).to(getattr(torch, dtype_name_of(dtype or "f32")))


def _vary_tensors(
    tensors: tuple[CallTensor, ...], values: Sequence[Any], inputs: Any, seed: int
) -> tuple[CallTensor, ...]:
    """Given tensors, for another seed than the first: floats in another order."""
    if callable(inputs) or seed == 0 or all(map(is_shape, values)):
        return tensors
    rng = np.random.default_rng([seed, 3])

    def permuted(t: CallTensor) -> CallTensor:
        values = rng.permutation(t.values.ravel()).reshape(t.values.shape)
        return restore_properties(find_properties([t]), t, values) or t

    return tuple(permuted(t) if t.kind else t for t in tensors)


def _describe_value(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN_LETTERS else f"a {type(value).__name__}"


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") or isinstance(value, np.ndarray)


def names_of(subject: Any) -> list[str]:
    """Names of the positional arguments of a function or module; empty where they cannot be told."""
    function = getattr(subject, "forward", subject)
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


@contextmanager
def seeded(torch: Any, seed: int) -> Iterator[None]:
    """A block in which PyTorch draws from `seed`, and what it draws outside goes on as if there had been none."""
    with torch.random.fork_rng(devices=[]), _of_the_cpu_alone(torch):
        torch.manual_seed(seed)
        yield


@contextmanager
def _of_the_cpu_alone(torch: Any) -> Iterator[None]:
    if not hasattr(torch, "accelerator") or torch.accelerator.current_accelerator() is not None:
        yield
        return
    kinds = torch.cuda, torch.xpu, torch.mtia
    before = [kind.manual_seed_all for kind in kinds]
    for kind in kinds:
        kind.manual_seed_all = lambda _: None  # there is no such device
    try:
        yield
    finally:
        for kind, own in zip(kinds, before, strict=True):
            kind.manual_seed_all = own


def update_buffers(reference: Native, tensors: tuple[CallTensor, ...], seed: int) -> tuple[CallTensor, ...]:
    """The tensors, with the buffers that the reference writes into as a call leaves them, but a norm's statistics.

    As they are where nothing is written, or the reference does not take another call then.
    """
    if not any(t.buffer and not is_statistic(t) for t in tensors):
        return tensors
    request = CallRequest(tensors, seed=seed)
    reply = reference.call_native(request)
    after = {i for i in reply.changed if tensors[i].buffer and not is_statistic(tensors[i])}
    if reply.error or not after:
        return tensors
    later = tuple(replace(t, values=reply.left[i]) if i in after else t for i, t in enumerate(tensors))
    return tensors if reference.call_native(replace(request, tensors=later)).error else later
