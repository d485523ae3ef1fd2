"""The reference of an operator as source text that needs NumPy alone: its functions and all that they use."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from opproof.reference_ops._op import FOLDER, Op

_PACKAGE = "opproof.reference_ops"

#: What stands in the file instead of a definition, by the module and name of this. SciPy's erf: math's agrees to the
#: last digits.
_INSTEAD = {"_arrays.erf": "erf = np.vectorize(math.erf, otypes=[np.float64])"}


class TooTangled(ValueError):
    """The functions cannot stand in one file: two of them share a name."""


@dataclass
class _Joined:
    """What goes into the file, each definition after those that it uses."""

    imports: set[str] = field(default_factory=lambda: {"import math", "import numpy as np"})
    homes: dict[str, Path] = field(default_factory=dict)  # of every name defined in the file
    pieces: list[str] = field(default_factory=list)


def source(op: Op) -> tuple[str, str]:
    """Import lines, and the text of `forward` and, where there is one, `vjp`. Raises TooTangled."""
    joined = _Joined()
    for name in ("forward", "vjp") if op.vjp is not None else ("forward",):
        _take(op.source, name, name, joined)
    return "\n".join(sorted(joined.imports)), "\n\n\n".join(joined.pieces)


def _take(path: Path, name: str, called: str, joined: _Joined) -> None:
    """Add what `name` means in the file at `path`, under the name `called`, if it is not there yet."""
    text, tree = _module(path)
    node = _definition(tree, name)
    if node is None:
        _take_import(path, name, called, joined)
        return
    if called in joined.homes:
        if joined.homes[called] != path:
            raise TooTangled(f"{called} is defined in {joined.homes[called].name} and in {path.name}")
        return
    joined.homes[called] = path
    if f"{path.stem}.{name}" in _INSTEAD:
        joined.pieces.append(_INSTEAD[f"{path.stem}.{name}"])
        return
    for used in dict.fromkeys(_names(node)):
        if _definition(tree, used) is not None or _import_of(tree, used) is not None:
            _take(path, used, called if used == name else used, joined)
    piece = _text(text, node)
    joined.pieces.append(piece if called == name else re.sub(rf"^def {name}\(", f"def {called}(", piece))


def _take_import(path: Path, name: str, called: str, joined: _Joined) -> None:
    """Add what an import of the file at `path` brings in."""
    node = _import_of(_module(path)[1], name)
    assert node is not None
    module = node.module if isinstance(node, ast.ImportFrom) else None
    if module is None or not module.startswith(_PACKAGE):
        joined.imports.add(ast.unparse(node))
    elif module != _PACKAGE:
        _take(FOLDER / f"{module.rpartition('.')[2]}.py", name, called, joined)
    elif joined.homes.setdefault(name, FOLDER) != FOLDER:
        raise TooTangled(f"{name} is an operator, and defined in {joined.homes[name].name}")
    elif (FOLDER / f"{name}.py") not in joined.homes.values():  # an operator, used as in gelu.forward
        for function in ("forward", "vjp"):
            _take(FOLDER / f"{name}.py", function, f"{name}_{function}", joined)
        joined.imports.add("import types")
        joined.pieces.append(f"{name} = types.SimpleNamespace(forward={name}_forward, vjp={name}_vjp)")


@functools.cache
def _module(path: Path) -> tuple[str, ast.Module]:
    text = path.read_text(encoding="utf-8")
    return text, ast.parse(text)


def _definition(tree: ast.Module, name: str) -> ast.stmt | None:
    """The top-level statement that defines `name`."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign):
            names = [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        else:
            names = [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []
        if name in names:
            return node
    return None


def _import_of(tree: ast.Module, name: str) -> ast.Import | ast.ImportFrom | None:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and any((a.asname or a.name) == name for a in node.names):
            return node
    return None


def _names(node: ast.AST) -> Iterator[str]:
    """Names that a statement uses when it runs: not those of annotations, which are never evaluated."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Name):
                yield child.id
            if isinstance(child, ast.AST):
                yield from _names(child)


def _text(text: str, node: ast.stmt) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = text.splitlines()[first - 1 : node.end_lineno]
    return "\n".join(re.sub(r"  # (type: ignore|noqa).*", "", line) for line in lines)
