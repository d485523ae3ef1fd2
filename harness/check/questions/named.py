"""The numbers and flags of a call by their names: those given beside tensors, and what the reference has by default."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from opproof.harness.check.questions.inputs import names_of
from opproof.harness.check.sides.reference import Reference
from opproof.harness.check.sides.subject import is_module


def parameters_of(reference: Reference, rest: tuple[Any, ...] | None) -> dict[str, Any]:
    """What a call has beside tensors, by name; `rest`: where it is not as given. Nothing of arguments in a nesting."""
    given = _given(reference, rest)
    if given is None:
        return {}
    by_name = reference.form.arguments.keywords
    by_default = {} if is_module(reference.subject) else _defaults(reference.subject, 0 if by_name else len(given))
    values = {**by_default, **dict(zip(_names(reference), given, strict=False))}
    return {name: v for name, v in values.items() if isinstance(v, bool | int | float)}


def with_parameters(reference: Reference, rest: tuple[Any, ...] | None, values: Mapping[str, Any]) -> Reference:
    """The reference with other numbers and flags of those names."""
    given, names = _given(reference, rest) or (), _names(reference)
    changed = tuple(values.get(name, v) for name, v in zip(names, given, strict=False))
    later = {name: v for name, v in values.items() if name not in names[: len(given)]}
    subject = functools.partial(reference.subject, **later) if later else reference.subject
    return Reference(subject, reference.form.with_rest((*changed, *given[len(changed) :])))


def _names(reference: Reference) -> Sequence[str]:
    """Of the arguments, in order."""
    return reference.form.arguments.keywords or names_of(reference.subject)


def _given(reference: Reference, rest: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The arguments, None in place of tensors; None where some stand in a nesting."""
    arguments = reference.form.with_rest(rest).arguments
    flat = all(child.is_leaf() for child in arguments.spec.children())
    return arguments.rest if flat else None


def _defaults(function: Any, given: int) -> dict[str, Any]:
    """What parameters have where nothing is given, past so many that are given."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {q.name: q.default for q in found[given:] if q.kind in named and q.default is not q.empty}
