"""Causes of known failures: the functions that a list names, and the machines that it speaks of.

The functions lie in `causes.py` beside the list, or in backends/causes.py where several libraries share them:

    forward(*tensors, **params)           what the library computes, with the operator's own signature, in NumPy
    vjp(g, y, *tensors, **params)         its gradients, as reference_ops say them
    undefined(question)                   a mask per result, None for none, of the elements where anything may stand
    when(question)                        whether the failure happens; a question has case, params, names, inputs, needs

Where one reason has another formula for each operator, `forward` and `vjp` may name a table of functions by operator.

They are evaluated in float64, under noise and in rounded arithmetic: they use NumPy's functions that references use.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.core.errors import UsageError, suggest
from opproof.core.system import read_cpuinfo, spec_of

#: In what a changed reference is computed, with what it means for operations and for sums.
ARITHMETICS: Mapping[str, str] = {
    "storage": "every result on the way is stored in the dtype of the tensors, sums are accumulated in float32",
    "dtype": "all arithmetic is that of the dtype, sums included",
    "f32": "all arithmetic is that of float32, its range included",
    "tf32": "all arithmetic has 11 digits and the range of float32",
    "f16": "all arithmetic is that of float16, sums included",
    "bf16": "all arithmetic is that of bfloat16, sums included",
}

#: Files of functions: beside a list, and of all lists.
FILE = "causes.py"
SHARED = Path(__file__).parents[2] / "backends" / "causes.py"
#: Keys of an entry that name functions.
FUNCTIONS = ("forward", "vjp", "undefined", "when")


@dataclass(frozen=True)
class Where:
    """The machines that an entry speaks of: their architecture, and vector features that they have or lack."""

    machine: str = ""
    features: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def holds(self, machine: str | None = None, features: Iterable[str] | None = None) -> bool:
        """Whether this machine is one of them, unless another is given."""
        machine = platform.machine() if machine is None else machine
        if self.machine and machine != self.machine:
            return False
        if not (self.features or self.without):
            return True
        has = read_processor_features() if features is None else frozenset(features)
        return has.issuperset(self.features) and has.isdisjoint(self.without)


@functools.cache
def read_processor_features() -> frozenset[str]:
    """The processor's features in Linux's words, such as avx2 or asimd; none where the system does not tell."""
    lines = (line.partition(":") for line in read_cpuinfo().splitlines())
    return frozenset(f for key, _, value in lines if key.strip() in ("flags", "Features") for f in value.split())


def check_names(path: Path, named: Iterable[tuple[int, str, str]]) -> None:
    """Raise UsageError where the list at `path` names a function that neither file of functions has.

    `named`: the number of an entry, one of FUNCTIONS, and the name that stands there.
    """
    known: list[str] | None = None
    for number, key, name in named:
        if known is None:
            known = [*_list_functions(path.parent / FILE), *_list_functions(SHARED)]
        if name not in known:
            raise UsageError(
                f"{path}, entry {number}: {key} names {name!r}, which {path.parent / FILE} does not define"
                f"{suggest(name, known)}"
            )


def _list_functions(path: Path) -> list[str]:
    if not path.is_file():
        return []
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise UsageError(f"{path} is not Python: {error.msg} in line {error.lineno}.") from None
    defined = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
    derived = [t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    return [name for name in (*defined, *derived) if not name.startswith("_")]


def function_of(folder: str, name: str, op: str = "") -> Callable[..., Any] | None:
    """The function of that name that a list in `folder` means; None for no name. Raises UsageError.

    Of a table it is that of the operator `op`, None where it has none.
    """
    if not name:
        return None
    for path in (Path(folder) / FILE, SHARED):
        function = getattr(_load_module(path), name, None) if path.is_file() else None
        if isinstance(function, Mapping):
            function = function.get(op)
            if function is None:
                return None
        if callable(function):
            found: Callable[..., Any] = function
            return found
    raise UsageError(f"there is no function {name!r} in {Path(folder) / FILE}; give one, or mend the list's entry.")


@functools.cache
def _load_module(path: Path) -> Any:
    spec = spec_of(f"opproof_causes_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path} could not be imported: {type(error).__name__}: {error}") from error
    return module
