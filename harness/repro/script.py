"""A failing case as a Python program that reproduces its numbers: inputs, reference, expected against got.

Small cases need NumPy alone: inputs stand in the program, and the reference's own source does. Larger ones import
opproof, which draws the same inputs from the case id.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.core.errors import CaseError, OpError
from opproof.core.verdicts import FAILED, Mode
from opproof.harness.reference.data import fill_parameters
from opproof.harness.reference.question import make_question, name_outputs
from opproof.harness.reference.valid_case import check_case, op_of
from opproof.reference_ops import Op, load
from opproof.reference_ops import names as names_of_operators
from opproof.reference_ops._op import FOLDER
from opproof.reports import Header, Result
from opproof.reports._text import format_line

#: Numbers that a program holds at most; beyond, it imports opproof.
MAX_PROGRAM_NUMBERS = 1000
#: Programs in one report, how many of one operator, and their characters in all.
_MAX_PROGRAMS = 120
_MAX_PROGRAMS_OF_OP = 3
_MAX_CHARACTERS = 1_000_000


def scripts_of(header: Header, results: Iterable[Result]) -> dict[str, str]:
    """Programs by case id, for some failing cases of every operator; unexpected failures first."""
    folders = tuple(header.options.get("selection", {}).get("folders", ()))
    failing: dict[str, list[Result]] = {}
    for r in sorted(
        (r for r in results if r.verdict in FAILED and r.mode is not Mode.REFUSAL), key=lambda r: bool(r.known)
    ):
        failing.setdefault(r.case, []).append(r)
    programs: dict[str, str] = {}
    taken: dict[str, int] = {}
    room = _MAX_CHARACTERS
    for case, some in failing.items():
        op = some[0].op
        if taken.get(op, 0) == _MAX_PROGRAMS_OF_OP or len(programs) == _MAX_PROGRAMS or room < 0:
            continue
        try:
            programs[case] = write_script(Case.parse(case), some, folders)
        except (CaseError, OpError):
            continue  # an operator or a case that this machine, or this version, does not have
        taken[op] = taken.get(op, 0) + 1
        room -= len(programs[case])
    return programs


def write_script(case: Case, results: Sequence[Result], folders: Sequence[str] = ()) -> str:
    """The program of one case, whose records are `results`. Raises CaseError or OpError for an unknown one."""
    op = op_of(check_case(case, folders).op, tuple(folders))
    mode = _mode_of(case, op, results)
    body = None
    with suppress(Exception):  # NotStandalone, or a user's own reference cannot take the case, as its record says
        body = _write_standalone(case, op, mode)
    comparison = _write_comparison([r for r in results if mode is Mode.GRADIENT or r.mode == mode])
    return "\n\n".join([_write_title(case, results), body or _with_opproof(case, folders, mode), f"{comparison}\n"])


def _mode_of(case: Case, op: Op, results: Sequence[Result]) -> Mode:
    """The mode whose data are the program's: of forward alone where a record is, and the gradient has other data."""
    if op.vjp is None:
        return Mode.FORWARD
    if all(r.mode != Mode.FORWARD for r in results):
        return Mode.GRADIENT
    try:
        own, other = (make_question(case, op, mode).case_data.inputs for mode in (Mode.FORWARD, Mode.GRADIENT))
    except Exception:  # a user's own reference that cannot take the case, which is what its record says
        return Mode.GRADIENT
    pairs = ((a, b) for a, b in zip(own, other, strict=True) if a is not None and b is not None)
    alike = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)
    return Mode.GRADIENT if alike else Mode.FORWARD


def _write_title(case: Case, results: Sequence[Result]) -> str:
    rows = [f"{case}", ""]
    rows += [f"{r.backend}, {r.mode}: {r.verdict}{f' ({r.diagnosis})' if r.diagnosis else ''}" for r in results]
    if case.layout != "contiguous":
        rows.append(f"The backend got these values in another layout: {case.layout}.")
    if case.inplace:
        rows.append(f"The backend was to write its result over {case.inplace}, or the gradient over the cotangent.")
    if case.into != "contiguous":
        rows.append(f"The backend was to write its results in another layout: {case.into}.")
    rows += ["", "Prints what the float64 reference expects, and what came back at the worst elements."]
    text = "\n".join(map(format_line, rows))
    return '"""' + text.replace("\\", "\\\\").replace('"', "'") + '\n"""\n\nfrom __future__ import annotations'


def _write_standalone(case: Case, op: Op, mode: Mode) -> str | None:
    """Inputs and reference; None where they are too large."""
    if sum(math.prod(shape) for shape in case.shapes.values()) > MAX_PROGRAM_NUMBERS:
        return None
    posed = make_question(case, op, mode).case_data
    outputs = posed.outputs
    if sum(y.size for y in outputs) > MAX_PROGRAM_NUMBERS:
        return None
    imports, functions = extract_source(op)
    names = name_outputs(op, len(outputs))
    rows = ["", "# What the backend was given.", "inputs = {"]
    for i, (name, v) in enumerate(zip(posed.names, posed.inputs, strict=True)):
        rows.append(f"    {(op.tensors[i] if name is None else name)!r}: {_format_array(v, case.dtype_of(name))},")
    params = ", ".join(f"{name!r}: {_format_value(value)}" for name, value in fill_parameters(case, op).items())
    rows += ["}", f"params = {{{params}}}", ""]
    rows += ["with np.errstate(all='ignore'):", "    y = forward(*inputs.values(), **params)"]
    rows += [f"outputs = dict(zip({names!r}, y if isinstance(y, (tuple, list)) else [y], strict=True))"]
    if mode is Mode.GRADIENT:
        gs = ", ".join(_format_array(g, case.dtype) for g in posed.cotangents)
        rows += ["", "# The gradient of sum(g y).", f"g = [{gs}]"]
        rows += ["with np.errstate(all='ignore'):"]
        rows += ["    d = vjp(g[0] if len(g) == 1 else tuple(g), y, *inputs.values(), **params)"]
        rows += ["gradients = dict(zip(inputs, d if isinstance(d, (tuple, list)) else [d]))"]
    elif op.vjp is not None:
        rows += ["gradients = {}  # they have data of their own: `opproof show` has them"]
    else:
        rows += ["gradients = {}  # by finite differences: `opproof show` has them"]
    return "\n".join([imports, "", "", functions, "", *rows])


def _with_opproof(case: Case, folders: Sequence[str], mode: Mode) -> str:
    asked = f", {str(mode)!r}" if mode is Mode.FORWARD else ""  # a gradient by finite differences has no vjp
    arrays = f"arrays = arrays_of(Case.parse({str(case)!r}), {tuple(folders)!r}{asked})"
    pick = "{name.removeprefix(%r): a for name, a in arrays.items() if name.startswith(%r)}"
    gradients = f"gradients = {pick % ('gradient ', 'gradient ')}"  # and their bounds, which nothing below asks for
    return "\n".join([
        "import numpy as np",
        "from opproof.cases import Case",
        "from opproof.harness.cli.repro import arrays_of",
        "",
        "# Too many numbers to stand here; opproof draws them from the case id.",
        arrays,
        f"inputs = {pick % ('input ', 'input ')}",
        f"outputs = {pick % ('expected ', 'expected ')}",
        gradients,
    ])  # fmt: skip


def _write_comparison(results: Sequence[Result]) -> str:
    """The worst elements of the records, and how to print them; all that is expected where there are none."""
    if all(r.worst is None for r in results):
        rows = ["for name, array in {**outputs, **{f'gradient of {n}': a for n, a in gradients.items()}}.items():"]
        return "\n".join([*rows, "    print(name, np.shape(array))", "    print(array)"])
    rows = ["# Where the largest errors are: mode, tensor, element, what the backend gave, how far off it may be."]
    rows += ["worst = ["]
    for r in results:
        if r.worst is not None:
            w = r.worst
            got, bound = _format_value(float(w.got)), _format_value(float(w.bound))
            rows.append(f"    ({str(r.mode)!r}, {w.tensor!r}, {w.index!r}, {got}, {bound}, {r.backend!r}),")
    loop = [
        "]",
        "for mode, tensor, index, got, bound, backend in worst:",
        "    arrays = outputs if mode == 'forward' else gradients",
        "    expected = float(np.asarray(arrays[tensor])[index]) if tensor in arrays else np.nan",
        "    off = abs(got - expected)",
        "    print(f'{mode} {tensor}{list(index)}: expected {expected!r}, {backend} gave {got!r}, '",
        "          f'off by {off:.3g}, allowed {bound:.3g}')",
    ]
    return "\n".join([*rows, *loop])


def _format_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({''.join(f'{_format_value(v)}, ' for v in value).rstrip()})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def _format_array(v: NDArray[Any] | None, dtype: str) -> str:
    """An array as text: the shortest digits of its dtype, read back into float64."""
    if v is None:
        return "None"
    if v.dtype.kind != "f":
        return f"np.array({v.ravel().tolist()!r}, np.{v.dtype.name}).reshape({v.shape!r})"
    kind = np.float64 if dtype == "f64" else np.float32  # which holds f16 and bf16
    numbers = ", ".join(_format_digits(x) for x in v.ravel().astype(kind))
    note = "" if dtype == "f64" else ", np.float32"
    widened = "" if dtype == "f64" else ".astype(np.float64)"
    return f"np.array([{numbers}]{note}).reshape({v.shape!r}){widened}"


def _format_digits(x: Any) -> str:
    if math.isfinite(x):
        return str(x)
    return "np.nan" if math.isnan(x) else "np.inf" if x > 0 else "-np.inf"


_PACKAGE = "opproof.reference_ops"

#: What stands in the file instead of a definition, by the module and name of this. SciPy's erf: math's agrees to the
#: last digits.
_INSTEAD = {"_arrays.erf": "erf = np.vectorize(math.erf, otypes=[np.float64])"}


class NotStandalone(ValueError):
    """The functions cannot stand in one file: two of them share a name."""


@dataclass
class _Joined:
    """What goes into the file, each definition after those that it uses."""

    imports: set[str] = field(default_factory=lambda: {"import math", "import numpy as np"})
    homes: dict[str, Path] = field(default_factory=dict)  # of every name defined in the file
    pieces: list[str] = field(default_factory=list)


def extract_source(op: Op) -> tuple[str, str]:
    """Import lines, and the text of `forward` and, where there is one, `vjp`. Raises TooTangled."""
    joined = _Joined()
    for name in ("forward", "vjp") if op.vjp is not None else ("forward",):
        _take(op.source, name, name, joined)
    return "\n".join(sorted(joined.imports)), "\n\n\n".join(joined.pieces)


def _take(path: Path, name: str, called: str, joined: _Joined) -> None:
    """Add what `name` means in the file at `path`, under the name `called`, if it is not there yet."""
    text, tree = _parse_module(path)
    node = _find_definition(tree, name)
    if node is None:
        _take_import(path, name, called, joined)
        return
    if called in joined.homes:
        if joined.homes[called] != path:
            raise NotStandalone(f"{called} is defined in {joined.homes[called].name} and in {path.name}")
        return
    joined.homes[called] = path
    if f"{path.stem}.{name}" in _INSTEAD:
        joined.pieces.append(_INSTEAD[f"{path.stem}.{name}"])
        return
    for used in dict.fromkeys(_walk_names(node)):
        if _find_definition(tree, used) is not None or _import_of(tree, used) is not None:
            _take(path, used, called if used == name else used, joined)
    piece = _extract_text(text, node)
    joined.pieces.append(piece if called == name else re.sub(rf"^def {name}\(", f"def {called}(", piece))


def _take_import(path: Path, name: str, called: str, joined: _Joined) -> None:
    """Add what an import of the file at `path` brings in."""
    node = _import_of(_parse_module(path)[1], name)
    assert node is not None
    module = node.module if isinstance(node, ast.ImportFrom) else None
    if module is None or not module.startswith(_PACKAGE):
        joined.imports.add(ast.unparse(node))
    elif module != _PACKAGE:
        _take(FOLDER / f"{module.rpartition('.')[2]}.py", name, called, joined)
    elif joined.homes.setdefault(name, FOLDER) != FOLDER:
        raise NotStandalone(f"{name} is an operator, and defined in {joined.homes[name].name}")
    elif (FOLDER / f"{name}.py") not in joined.homes.values():  # an operator, used as in gelu.forward
        for function in ("forward", "vjp"):
            _take(FOLDER / f"{name}.py", function, f"{name}_{function}", joined)
        joined.imports.add("import types")
        joined.pieces.append(f"{name} = types.SimpleNamespace(forward={name}_forward, vjp={name}_vjp)")


@functools.cache
def _parse_module(path: Path) -> tuple[str, ast.Module]:
    text = path.read_text(encoding="utf-8")
    return text, ast.parse(text)


def _find_definition(tree: ast.Module, name: str) -> ast.stmt | None:
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


def _walk_names(node: ast.AST) -> Iterator[str]:
    """Names that a statement uses when it runs: not those of annotations, which are never evaluated."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Name):
                yield child.id
            if isinstance(child, ast.AST):
                yield from _walk_names(child)


def _extract_text(text: str, node: ast.stmt) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = text.splitlines()[first - 1 : node.end_lineno]
    return "\n".join(re.sub(r"  # (type: ignore|noqa).*", "", line) for line in lines)


def docs_of(results: Iterable[Result]) -> dict[str, str]:
    """Docstring of every built-in operator among the results."""
    return {name: load(name).doc for name in sorted({r.op for r in results}.intersection(names_of_operators()))}
