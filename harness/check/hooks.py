"""Judges for loops of others: an autotuner's accuracy check, and a candidate in place of an operator of a model."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opproof.core.errors import UsageError
from opproof.harness.check.api import Evaluated, evaluate_outputs, explain_difference

#: So many names of operators, or failures, are listed.
MAX_LISTED = 8


class Accuracy:
    """Judges answers to the inputs that its `baseline` had last; the reference is evaluated once for all of them.

    An autotuner asks for a baseline first, then compares the answer of each configuration with it. What the baseline
    returned says nothing of its own error, so that answers are judged by the reference in float64 instead.
    """

    def __init__(self, reference: Callable[..., Any], compute: str | None = None) -> None:
        if not callable(reference):
            raise UsageError(f"the reference is {reference!r:.60}: expected a function.")
        self._reference = reference
        self._compute = compute
        self._inputs: Sequence[Any] | None = None
        self._found: Evaluated | None = None
        self._answer: Any = None

    def baseline(self, *inputs: Any) -> Any:
        """Return what the reference gives, and keep the inputs, as they are now, for the answers to come."""
        self._inputs, self._found = _copy_tensors(inputs), None
        self._answer = self._reference(*inputs)
        if self._answer is None:
            raise UsageError(
                "the reference returns nothing: expected one that returns its results. "
                "Judge a kernel that works in place by opproof.check(..., inplace=...)."
            )
        return self._answer

    def __call__(self, actual: Any, expected: Any = None) -> None:
        """Assert that `actual` is right; `expected`, the baseline's answer, is not looked at.

        Raises AssertionError that names the worst element, UsageError where no baseline was asked for.
        """
        del expected
        if self._inputs is None:
            raise UsageError(
                "an answer came before any inputs: call baseline(*inputs) first, or give it to the autotuner, "
                "as autotune_baseline_fn of Helion."
            )
        if self._found is None:
            self._found = evaluate_outputs(self._reference, self._inputs, compute=self._compute)
        if text := explain_difference(actual, self._found):
            raise AssertionError(text)


@dataclass
class DispatchedCalls:
    """The calls of a model that a candidate answered."""

    name: str
    calls: int = 0
    failures: list[str] = field(default_factory=list)  # of each call that was wrong, by its number and shapes
    others: Counter[str] = field(default_factory=Counter)  # other operators that the model called

    @property
    def sentence(self) -> str:
        """What was found, the first failures below it."""
        if not self.failures:
            return f"{self.name}: all of {self.calls} calls are right"
        head = f"{self.name}: {len(self.failures)} of {self.calls} calls are wrong"
        more = len(self.failures) - MAX_LISTED
        return "\n".join([head, *self.failures[:MAX_LISTED], *[f"… and {more} more"] * (more > 0)])


@contextlib.contextmanager
def replace_operator(
    name: str, kernel: Callable[..., Any], compute: str | None, *, raises: bool
) -> Iterator[DispatchedCalls]:
    """A block in which `kernel` answers each call of the operator, and each answer is judged by the call's inputs."""
    from torch.utils._python_dispatch import TorchDispatchMode

    if not callable(kernel):
        raise UsageError(f"the kernel is {kernel!r:.60}: expected a function.")
    asked = _find_overloads(name)
    found = DispatchedCalls(name)

    class Replaced(TorchDispatchMode):  # type: ignore[misc, unused-ignore]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
        ) -> Any:
            named = dict(kwargs or {})
            if func not in asked:
                found.others[func.name().partition(".")[0]] += 1
                return func(*args, **named)
            return _judge_call(func, kernel, args, named, found, compute)

    with Replaced():
        yield found
    if not found.calls:
        raise UsageError(f"{name} was not called in this block: {_suggest(name, found.others)}.")
    if raises and found.failures:
        raise AssertionError(found.sentence)


def _find_overloads(name: str) -> frozenset[Any]:
    """The overloads that a name such as "aten::_softmax" or "aten::add.Tensor" means. Raises UsageError."""
    import torch

    space, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, space, None), base, None) if space and base else None
    names = packet.overloads() if packet is not None and hasattr(packet, "overloads") else []
    chosen = [getattr(packet, n) for n in names if overload in ("", n)]
    if not chosen:
        some = f"one of {', '.join(names)} after the point" if names else "a name of torch.ops, such as aten::_softmax"
        raise UsageError(f"unknown operator {name!r}: expected {some}.")
    judged = [f for f in chosen if not f._schema.is_mutable and torch.Tag.nondeterministic_seeded not in f.tags]  # noqa: SLF001
    if not judged:
        raise UsageError(f"{name} writes its arguments, or draws: expected an operator that returns what it computes.")
    return frozenset(judged)


def _judge_call(
    func: Any, kernel: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], found: DispatchedCalls,
    compute: str | None,
) -> Any:  # fmt: skip
    """The kernel's answer to one call, which is noted where it is wrong."""
    count = len(args)

    def reference(*values: Any) -> Any:
        return func(*values[:count], **dict(zip(named, values[count:], strict=True)))

    given = [*args, *named.values()]
    before = _copy_tensors(given)
    answer = kernel(*args, **named)
    found.calls += 1
    changed = [i for i, (v, old) in enumerate(zip(given, before, strict=True)) if not _has_same_tensors(v, old)]
    text = f"argument {changed[0]} was modified" if changed else ""
    if text := text or explain_difference(answer, evaluate_outputs(reference, before, compute=compute)):
        shapes = ", ".join(str(tuple(v.shape)) for v in _list_tensors(given))
        found.failures.append(f"call {found.calls}, of {shapes}: {text}")
    return answer


def _suggest(name: str, others: Counter[str]) -> str:
    """What the model called that the name may have meant: composite operators never reach the dispatcher's keys."""
    base = name.partition("::")[2].partition(".")[0].strip("_")
    alike = sorted(n for n in others if base in n)
    some = alike or [n for n, _ in others.most_common(MAX_LISTED)]
    return f"give one of {', '.join(some)}, which were" if some else "no operator was"


def _copy_tensors(values: Sequence[Any]) -> list[Any]:
    """The values, each tensor in them a copy of its own, in lists and other nestings too."""
    import torch
    from torch.utils._pytree import tree_map_only

    copied: list[Any] = tree_map_only(torch.Tensor, lambda t: t.detach().clone(), list(values))
    return copied


def _list_tensors(values: Any) -> list[Any]:
    import torch
    from torch.utils._pytree import tree_leaves

    return [v for v in tree_leaves(values) if isinstance(v, torch.Tensor)]


def _has_same_tensors(value: Any, before: Any) -> bool:
    """Whether its tensors hold what they held, NaN at the same places."""
    import torch

    pairs = zip(_list_tensors(value), _list_tensors(before), strict=True)
    return all(torch.allclose(v.detach(), old, rtol=0, atol=0, equal_nan=True) for v, old in pairs)
