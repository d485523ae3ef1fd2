"""What is given beside tensors, as JSON and back: numbers, texts, and PyTorch's own words, as dtypes and devices."""

from __future__ import annotations

import re
from collections import namedtuple
from typing import Any

#: Under which a value stands that JSON has no form for.
_KEY = "opproof"
#: A class of tuples with names, as its serialised name says it.
_NAMED = re.compile(r"opproof_namedtuple(?: \w+)+")


def to_json(value: Any) -> Any:
    """What `json` writes. Raises TypeError for what has no form."""
    import torch

    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return {_KEY: str(value)}
    if isinstance(value, torch.device):
        return {_KEY: "device", "of": str(value)}
    if isinstance(value, complex):
        return {_KEY: "complex", "of": [value.real, value.imag]}
    if isinstance(value, slice | range):
        return {_KEY: type(value).__name__, "of": [to_json(v) for v in (value.start, value.stop, value.step)]}
    raise TypeError(f"a {type(value).__name__}")


def from_json(value: Any) -> Any:
    """The value that was written so."""
    import torch

    if not isinstance(value, dict) or _KEY not in value:  # what a class's own is given may be a mapping
        return value
    name: str = value[_KEY]
    of: Any = value.get("of")
    if name == "device":
        return torch.device(of)
    if name in ("complex", "slice", "range"):
        return {"complex": complex, "slice": slice, "range": range}[name](*of)
    return getattr(torch, name.removeprefix("torch."))


def spec_to_text(spec: Any) -> str:
    """The tree that arguments stand in. Classes of tuples with names go by their own and their fields' names."""
    from torch.utils._pytree import treespec_dumps

    _register({kind: f"opproof_namedtuple {kind.__name__} {' '.join(kind._fields)}" for kind in _kinds(spec)})
    text: str = treespec_dumps(spec)
    return text


def spec_from_text(text: str) -> Any:
    """The tree, with classes of the same names and fields."""
    from torch.utils._pytree import treespec_loads

    names = dict.fromkeys(_NAMED.findall(text))
    _register({_class(name): name for name in names})
    return treespec_loads(text)


def _class(name: str) -> Any:
    _, kind, *fields = name.split(" ")
    return namedtuple(kind, fields)  # noqa: PYI024 - its fields are known when it is read


def _kinds(spec: Any) -> list[Any]:
    """The classes of tuples with names in a tree."""
    named = [spec.context] if hasattr(spec.context, "_fields") else []
    return list(dict.fromkeys([*named, *(kind for child in spec.children() for kind in _kinds(child))]))


def _register(names: dict[Any, str]) -> None:
    from torch.utils import _pytree

    for kind, name in names.items():
        if kind not in _pytree.SUPPORTED_SERIALIZED_TYPES:
            _pytree._register_namedtuple(kind, serialized_type_name=name)  # noqa: SLF001 - PyTorch has no other
