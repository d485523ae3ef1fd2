"""What the adapters of libraries share: a table from operators to the library's functions, and how it is asked."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias, TypeVar

from opproof.backends.protocol import Unsupported
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.graph import is_graph, operators_of, parse_graph
from opproof.core.tuples import tuple_of

#: The library's own function by our operator's name; it takes our tensors and parameters.
Table: TypeAlias = Mapping[str, Callable[..., Any]]
Results = TypeVar("Results", bound=Sequence[Array | None])


def join_tables(*files: ModuleType) -> dict[str, Callable[..., Any]]:
    """The TABLE of every file, in one."""
    return {op: function for file in files for op, function in file.TABLE.items()}


#: Operators whose results have another dtype than the first tensor's, and the number of the tensor that has it.
LIKE = {"branch": 1, "loop": 1, "mul_mat_id": 1, "mul_mat_id_quantized": 1, "set_rows_quantized": 1}


def like_of(op: str) -> int:
    """The number of the tensor whose dtype results have where those of a call have several."""
    return LIKE.get(op, 0)


def supports(table: Collection[str], op: str, library: str) -> Literal[True] | str:
    """True, or the reason: the library has no such operator, or not all of a graph."""
    missing = sorted(operators_of(op).difference(table))
    return f"{library} has no {missing[0]}" if missing else True


def function_of(table: Table, op: str, library: str, pass_on: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The function for `op`, of a graph all its calls in one. Raises Unsupported where the library has none.

    `pass_on` stands for what goes from one call of a graph to another, as OperatorGraph.compose has it.
    """
    if is_graph(op):
        return parse_graph(op).compose(lambda name: function_of(table, name, library), pass_on)
    if op not in table:
        raise Unsupported(f"{library} has no {op}")
    return table[op]


def decline_params(library: str, function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """`function`, of a library that has no parameters of these names: Unsupported where one is not None."""

    def plain(*tensors: Any, **params: Any) -> Any:
        for name in names:
            if params.pop(name) is not None:
                raise Unsupported(f"{library} has no {name}")
        return function(*tensors, **params)

    return plain


def pull_back(
    pull: Callable[[Callable[..., list[Any]], list[Any], list[Any]], Sequence[Any]],
    function: Callable[..., Any],
    tensors: Sequence[Any],
    cotangents: Sequence[Any],
    needs: Sequence[bool],
) -> list[Any]:
    """Gradients by the library's own vector-Jacobian product; None for tensors that need none.

    `pull(f, leaves, gs)` gives a gradient for each of `leaves`, the tensors that need one: f is `function` of these
    alone, with its outputs that have a cotangent (the floats), and `gs` are the cotangents.
    """

    def outputs(*leaves: Any) -> list[Any]:
        leaf = iter(leaves)
        given = [next(leaf) if need else t for t, need in zip(tensors, needs, strict=True)]
        return [y for y, g in zip(tuple_of(function(*given)), cotangents, strict=True) if g is not None]

    leaves = [t for t, need in zip(tensors, needs, strict=True) if need]
    found = iter(pull(outputs, leaves, [g for g in cotangents if g is not None]))
    return [next(found) if need else None for need in needs]


def make_forward_and_vjp(
    library: str,
    table: Callable[[], Table],
    *,
    tensor: Callable[[Array | None], Any],
    array: Callable[[Any], Array],
    pull: Callable[[Callable[..., list[Any]], list[Any], list[Any]], Sequence[Any]],
    declining: Callable[[], AbstractContextManager[None]],
) -> tuple[Callable[..., list[Array]], Callable[..., list[Array | None]]]:
    """`forward` and `vjp` of an adapter: functions of the library's own tensors, gradients by its own derivatives.

    `tensor` and `array` go there and back, `pull` is that of `pull_back`, and what is raised within `declining`
    comes out as Unsupported where the library says that it has not got something.
    """

    def forward(op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        function = function_of(table(), op, library)
        with declining():
            return [array(y) for y in tuple_of(function(*map(tensor, inputs), **params))]

    def vjp(
        op: str, inputs: Sequence[Array | None], params: Mapping[str, Any], cotangents: Sequence[Array | None],
        needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        function = functools.partial(function_of(table(), op, library), **params)
        with declining():
            found = pull_back(pull, function, list(map(tensor, inputs)), list(map(tensor, cotangents)), needs)
            return [None if d is None else array(d) for d in found]

    return forward, vjp


def check_variant(backend: str, variant: str, *others: str) -> None:
    """Raises BackendError where `variant` is neither empty nor one of `others`."""
    if variant in ("", *others):
        return
    *first, last = (backend, *(f"{backend}:{other}" for other in others))
    expected = f"{', '.join(first)} or {last}" if first else last
    raise BackendError(f"backend {backend} has no variant {variant!r}: expected {expected}.")


def split_device(variant: str) -> tuple[str, str | None]:
    """What stands before the last "@" of a variant, which may be a path, and the name of a device behind it."""
    before, at, device = variant.rpartition("@")
    return (before, device) if at and "/" not in device else (variant, None)


def find_device(backend: str, asked: str, there: Collection[str]) -> str:
    """The one of the devices `there` that `asked` names, in capitals or not. Raises BackendError where none does."""
    found = next((name for name in there if name.lower() == asked.lower()), None)
    if found is None:
        has = ", ".join(there)
        raise BackendError(f"backend {backend} has no device {asked!r} on this machine; give one that it has: {has}.")
    return found


def how_to_install(backend: str) -> str:
    """The command that installs what an adapter needs, from the folder of a clone or from PyPI."""
    extra = backend.replace("_", "-")
    clone = Path("pyproject.toml").is_file() and Path("constraints.txt").is_file() and Path("reference_ops").is_dir()
    return f"pip install -c constraints.txt '.[{extra}]'" if clone else f"pip install 'opproof[{extra}]'"


def import_library(module: str, backend: str, library: str) -> Any:
    """The Python module of a library. Raises BackendError, which says how to install it, where it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError:
        hint = how_to_install(backend)
        raise BackendError(f"backend {backend} needs {library}, which is not installed; {hint}.") from None


def write_results(results: Results, out: Sequence[Array | None] | None) -> Results:
    """`results`, written to the arrays of `out` too where there are any: all is computed before the first is."""
    for result, place in zip(results, out or [None] * len(results), strict=True):
        if result is not None and place is not None:
            place[...] = result
    return results
