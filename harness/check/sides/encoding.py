"""What is given beside tensors, as JSON and back: numbers, texts, PyTorch's own words, members of enums, functions."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Mapping
from typing import Any

from opproof.harness.check.sides.classes import importable
from opproof.harness.check.sides.generators import Generator

#: Under which a value stands that JSON has no form for.
_KEY = "opproof"
#: Where functions are that do not say whence they come.
_MODULES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "math", "operator", "builtins", "numpy")


def to_json(value: Any) -> Any:
    """What `json` writes. Raises TypeError for what has no form."""
    import torch

    if isinstance(value, enum.Enum):
        return {_KEY: "enum", "of": _enum_to_json(value)}
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
    if isinstance(value, Generator):
        return {_KEY: "generator", "of": [value.device, value.state.hex()]}
    if isinstance(value, functools.partial):
        keywords = {name: to_json(v) for name, v in value.keywords.items()}
        return {_KEY: "partial", "of": [to_json(value.func), [to_json(v) for v in value.args], keywords]}
    if callable(value) and not isinstance(value, torch.nn.Module):
        return {_KEY: "function", "of": _place_of(value)}
    raise TypeError(f"a {type(value).__name__}")


def from_json(value: Any, own: Mapping[str, Any]) -> Any:
    """The value that was written so. `own`: what the candidate's module has, by name."""
    import torch

    if not isinstance(value, dict) or _KEY not in value:  # what a class's own is given may be a mapping
        return value
    name: str = value[_KEY]
    of: Any = value.get("of")
    if name == "partial":
        function, given, named = of
        keywords = {key: from_json(v, own) for key, v in named.items()}
        return functools.partial(from_json(function, own), *(from_json(v, own) for v in given), **keywords)
    makers: dict[str, Callable[..., Any]] = {
        "enum": lambda *_: _enum_from_json(of, own),
        "function": importable,
        "generator": lambda device, state: Generator(device, bytes.fromhex(state)),
        "complex": complex,
        "slice": slice,
        "range": range,
    }
    if name in makers:
        return makers[name](*of)
    return torch.device(of) if name == "device" else getattr(torch, name.removeprefix("torch."))


def _place_of(function: Any) -> list[str]:
    """Module and name of a function or class that can be imported. Raises TypeError."""
    name: str = getattr(function, "__name__", "")
    modules: tuple[str | None, ...] = (getattr(function, "__module__", None), *_MODULES)
    for module in modules:
        if module is None or module == "__main__" or module.startswith("opproof_checked_"):
            continue  # of a file that the candidate's process has not
        if importable(module, name) is function:
            return [module, name]
    raise TypeError(f"the function {name or function!r}, which no library has")


def _enum_to_json(member: enum.Enum) -> list[Any]:
    kind = type(member)
    base = next((b.__name__ for b in (int, str) if issubclass(kind, b)), "")
    return [kind.__module__, kind.__name__, base, member.name, [[m.name, to_json(m.value)] for m in kind]]


def _enum_from_json(of: list[Any], own: Mapping[str, Any]) -> Any:
    module, name, base, member, members = of
    for kind in (own.get(name), importable(module, name)):
        if isinstance(kind, enum.EnumMeta) and member in kind.__members__:
            return kind[member]
    return _made(name, base, tuple((key, from_json(v, own)) for key, v in members))[member]


@functools.cache
def _made(name: str, base: str, members: tuple[tuple[str, Any], ...]) -> Any:
    """One class for all members that come: they are compared by what they are."""
    mixed = {"int": int, "str": str}.get(base)
    return enum.Enum(name, members, type=mixed) if mixed else enum.Enum(name, members)
