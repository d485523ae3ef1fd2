"""Arguments that are objects of a user's own classes: what they hold are arguments as others are.

A configuration's numbers are told apart by seed and sent to the candidate's process as any number is. There the object
is one of the candidate's class of that name, else of the class itself where it can be imported, else of one that is
made with the same fields. Tuples with names are such objects too.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import importlib
import re
import sys
import types
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Classes of attributes and nothing else that Python has itself.
_BARE = (types.SimpleNamespace, argparse.Namespace)
#: Whose objects are no configurations, whatever they hold.
_LIBRARIES = frozenset({"torch", "numpy", "opproof", "jax", "jaxlib", "builtins"})


class ClassForm(enum.StrEnum):
    """How a class is made where nobody has it."""

    TUPLE = "tuple"
    DATA = "data"
    BARE = "bare"
    METHODS = "methods"  # it cannot be


@dataclass(frozen=True)
class ClassName:
    """A class as its name among PyTorch's trees says it."""

    how: ClassForm
    module: str
    name: str
    fields: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(("opproof_class", self.how, self.module, self.name, *self.fields))


_NAMED = re.compile(r"opproof_class(?: [\w.]+)+")


def look_into(arguments: Any) -> None:
    """Have PyTorch take every object of a user's class, in a nesting of arguments, for what it holds."""
    _register({kind: str(_describe_class(kind)) for kind in _walk_classes(arguments)})


def look_into_named(text: str, own: Mapping[str, Any]) -> None:
    """The same for the classes that the text of a tree names. `own`: what the candidate's module has, by name.

    Raises LookupError for one that cannot be made.
    """
    names = dict.fromkeys(_NAMED.findall(text))
    _register({_find_class(_read(name), own): name for name in names})


def spec_to_text(spec: Any) -> str:
    """The tree that arguments stand in."""
    from torch.utils._pytree import treespec_dumps

    _register({kind: str(_describe_class(kind)) for kind in _find_named_tuples(spec)})
    text: str = treespec_dumps(spec)
    return text


def find_importable(module: str, name: str) -> Any:
    """What a module has under this name; None where there is no such module, or it has none."""
    try:
        return getattr(importlib.import_module(module), name, None)
    except Exception:  # whatever a module of the user's does when it is imported
        return None


def _walk_classes(value: Any) -> Iterator[type]:
    held: Sequence[Any] = ()
    if isinstance(value, Mapping):
        held = list(value.values())
    elif isinstance(value, list | tuple):
        held = value
    elif _is_bag(value):
        yield type(value)
        held = [getattr(value, name) for name in _list_attributes(value)]
    for v in held:
        yield from _walk_classes(v)


def _is_bag(value: Any) -> bool:
    """Whether it is an object whose attributes are all that it is."""
    kind = type(value)
    if dataclasses.is_dataclass(kind) or kind in _BARE:
        return True
    library = kind.__module__.partition(".")[0]
    if library in _LIBRARIES or library in sys.stdlib_module_names - {"__main__"} or not hasattr(value, "__dict__"):
        return False
    return not (callable(value) or isinstance(value, type | enum.Enum) or hasattr(value, "detach"))


def _list_attributes(value: Any) -> list[str]:
    if dataclasses.is_dataclass(value):
        return [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)]
    return list(vars(value))


def _describe_class(kind: type) -> ClassName:
    fields: tuple[str, ...] = ()
    if hasattr(kind, "_fields"):
        how, fields = ClassForm.TUPLE, kind._fields
    elif dataclasses.is_dataclass(kind):
        how, fields = ClassForm.DATA, tuple(f.name for f in dataclasses.fields(kind))
    else:
        how = ClassForm.BARE
    if how is not ClassForm.TUPLE and any(_is_own(name, v) for c in kind.__mro__[:-1] for name, v in vars(c).items()):
        how = ClassForm.METHODS
    return ClassName(how, kind.__module__, kind.__name__, fields)


def _is_own(name: str, value: Any) -> bool:
    """Whether a class's member is a method or the like, that a class with the same fields would not have."""
    return not name.startswith("__") and (callable(value) or hasattr(value, "__get__"))


def _read(name: str) -> ClassName:
    _, how, module, kind, *fields = name.split(" ")
    return ClassName(ClassForm(how), module, kind, tuple(fields))


def _find_class(named: ClassName, own: Mapping[str, Any]) -> type:
    for kind in (own.get(named.name), find_importable(named.module, named.name)):
        if isinstance(kind, type) and (
            named.how is not ClassForm.TUPLE or getattr(kind, "_fields", ()) == named.fields
        ):
            return kind
    if named.how is ClassForm.METHODS:
        raise LookupError(
            f"an argument is a {named.name}, which has methods: the candidate's file needs a class of that name"
        )
    if named.how is ClassForm.TUPLE:
        return namedtuple(named.name, named.fields)  # noqa: PYI024 - its fields are known when it is read
    if named.how is ClassForm.DATA:
        return dataclasses.make_dataclass(named.name, named.fields)
    return type(named.name, (types.SimpleNamespace,), {})


def _find_named_tuples(spec: Any) -> list[Any]:
    """The classes of tuples with names in a tree: PyTorch looks into these by itself."""
    named = [spec.context] if hasattr(spec.context, "_fields") else []
    return list(dict.fromkeys([*named, *(kind for child in spec.children() for kind in _find_named_tuples(child))]))


def _register(names: Mapping[Any, str]) -> None:
    from torch.utils import _pytree

    for kind, name in names.items():
        if kind in _pytree.SUPPORTED_SERIALIZED_TYPES:
            continue
        if hasattr(kind, "_fields"):
            _pytree._register_namedtuple(kind, serialized_type_name=name)  # noqa: SLF001 - PyTorch has no other
        else:
            _pytree.register_pytree_node(
                kind, _flatten, _make_constructor(kind), serialized_type_name=name,
                to_dumpable_context=list, from_dumpable_context=tuple, flatten_with_keys_fn=_flatten_with_keys,
            )  # fmt: skip


def _flatten(value: Any) -> tuple[list[Any], tuple[str, ...]]:
    names = _list_attributes(value)
    return [getattr(value, name) for name in names], tuple(names)


def _flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
    from torch.utils._pytree import GetAttrKey

    values, names = _flatten(value)
    return [(GetAttrKey(name), v) for name, v in zip(names, values, strict=True)], names


def _make_constructor(kind: Any) -> Any:
    """What makes an object of its attributes, whatever its constructor takes."""

    def made(values: Any, names: tuple[str, ...]) -> Any:
        y = kind.__new__(kind)
        for name, value in zip(names, values, strict=True):
            object.__setattr__(y, name, value)
        return y

    return made
