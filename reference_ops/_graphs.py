"""Graphs as operators: a pattern of graphs.toml by name, or an expression (core/graph.py) of operators.

    graph:linear_gelu
    graph:softmax(scale(matmul(a,b),s=0.25),dim=-1)

In an id `.indices` behind a call takes the output of that name. The reference is that of the calls, one after the
other, and its gradient theirs, backwards. Who computes call by call stores what goes from one to the next in the case's
dtype, who fuses them does not: the error scale has that store, so that both are right.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from opproof.core.errors import OpError, suggest
from opproof.core.graph import (
    PREFIX,
    Edge,
    GraphNode,
    OperatorGraph,
    is_graph,
    parse_expression,
    parse_graph,
    store_between,
)
from opproof.core.graph import operators_of as operators_called
from opproof.core.tuples import tuple_of
from opproof.reference_ops import _op
from opproof.reference_ops._op import FACTS, Op
from opproof.reference_ops._vjp import gradients_of

#: Sizes of the axes of a pattern in the order of their names: no tile of any kernel, one, whole tiles, all alike, so
#: that whoever tells axes by their sizes takes one for another, and a mixture.
UNEVEN = (7, 33, 5, 9, 3, 11)
ONES = (1,) * 6
TILES = (4, 16, 32, 16, 8, 32)
ALIKE = (3,) * 6
MIXED = (3, 16, 65, 1, 17, 2)
#: An axis past a block of 256 threads, beside short ones.
LONG = 257
SMALL = (2, 5, 3, 4, 2, 3)
#: The patterns that libraries fuse, by name.
PATTERNS = Path(__file__).with_name("graphs.toml")


def load(name: str) -> Op:
    """The operator or the graph `name`. Raises OpError where there is none."""
    return load_graph(name) if is_graph(name) else _op.load(name)


def operators_of(name: str) -> frozenset[str]:
    """The operators that the graph `name` calls; an operator's own name. Raises OpError where there is no graph."""
    return operators_called(load_graph(name).expression if is_graph(name) else name)


def change_calls(op: Op, calls: Mapping[str, Op]) -> Op:
    """The graph `op` with other references for operators that it calls."""
    graph = parse_graph(op.expression)

    def op_of(name: str) -> Op:
        return calls.get(name) or _op.load(name)

    vjp = None if op.vjp is None else functools.partial(_pull_back, graph, op_of)
    return replace(op, forward=graph.compose(lambda name: op_of(name).forward, store_between), vjp=vjp)


def graph_names() -> list[str]:
    """The names of all patterns, in the file's order."""
    return [f"{PREFIX}{name}" for name in _read_patterns()]


@functools.cache
def load_graph(name: str) -> Op:
    """The graph `name` as an operator. Raises OpError for what is no pattern and no expression of operators."""
    text, patterns = name.removeprefix(PREFIX), _read_patterns()
    pattern = patterns.get(text, {"graph": text})
    if text.isidentifier() and text not in patterns:
        raise OpError(f"unknown graph {name!r}{suggest(text, patterns)} `opproof list graphs` prints them all.")
    expression = f"{PREFIX}{_write_out(pattern['graph'], name)}"
    graph = parse_graph(expression)
    ops = [_op.load(node.op) for node in graph.nodes]
    # Results that are rounded and have no gradient, as parameters after a step, leave none to the graph.
    ends = [ops[number] for number, _ in graph.results]
    differentiable = any(op.vjp for op in ops) and all(op.vjp or "forward" in op.facts["EXACT"] for op in ends)
    return Op(
        name=name,
        doc=f"{name}: {pattern['graph']}",
        source=PATTERNS,
        forward=graph.compose(lambda op: _op.load(op).forward, store_between),
        vjp=functools.partial(_pull_back, graph, _op.load) if differentiable else None,
        torch=graph.compose(lambda op: _op.load(op).torch) if all(op.torch for op in ops) else None,  # type: ignore[arg-type, return-value]
        domain=functools.partial(_find_domain, graph),
        tensors=graph.tensors,
        optional=frozenset(),
        variadic=False,
        params=dict.fromkeys(graph.params, inspect.Parameter.empty),
        facts={**FACTS, "OUTPUTS": tuple(f"y{i}" if i else "y" for i in range(len(graph.results))), **_signed(pattern)},
        traits=frozenset(),
        kinds=frozenset.intersection(*(op.kinds for op in ops)),
        rows=_list_rows(graph, pattern),
        expression=expression,
    )


@functools.cache
def _read_patterns() -> dict[str, dict[str, Any]]:
    return tomllib.loads(PATTERNS.read_text(encoding="utf-8"))


def _signed(pattern: Mapping[str, Any]) -> dict[str, str]:
    return {"SIGNATURE": pattern["signature"]} if "signature" in pattern else {}


def _list_rows(graph: OperatorGraph, pattern: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Rows of a pattern: sizes that are no tile, ones, whole tiles, alike, each axis long; and another layout."""
    if "signature" not in pattern:
        return {}
    # A store in 16 bits turns a branch that a sum next to 0 decides, and every answer is right then.
    turns = any(
        _has_branches(_op.load(node.op)) and any(isinstance(x, tuple) for x in node.operands) for node in graph.nodes
    )
    dtypes = pattern.get("dtypes", "f32" if turns else "")
    groups = re.findall(r"\(([^)]*)\)", pattern["signature"])
    axes = list(dict.fromkeys(re.findall(r"[a-z]+", pattern["signature"])))

    def row(sizes: Iterable[int], *more: str) -> str:
        """The row of these sizes, in the dtypes of the pattern unless `more` names some."""
        own = dict(zip(axes, sizes, strict=False))
        shapes = ["x".join(str(_size_of(axis, own)) for axis in group.split(",")) for group in groups]
        parts = [f"{name}={s if 'x' in s else f'{s},'}" for name, s in zip(graph.tensors, shapes, strict=True)]
        params = re.sub(r"\{([^}]*)\}", lambda found: str(_size_of(found[1], own)), pattern.get("params", ""))
        return ";".join([*parts, *filter(None, [params, *more, dtypes * (not more)])])

    first = row(UNEVEN)
    long = [row([LONG if i == k else small for i, small in enumerate(SMALL)]) for k in range(len(axes))]
    strided = [row(UNEVEN, "f32", f"layout={layout}") for layout in ("transposed", "cropped")]
    return {"smoke": (first,), "standard": (row(ONES), row(TILES), row(ALIKE), row(MIXED), *long, *strided)}


def _has_branches(op: Op) -> bool:
    return op.kinks is not None or op.ties is not None or "ordered" in op.traits


def _size_of(axis: str, sizes: Mapping[str, int]) -> int:
    """A number, a name, or sums and products of these."""
    return sum(math.prod(int(sizes.get(f, f)) for f in term.split("*")) for term in axis.split("+"))


def _write_out(text: str, name: str) -> str:
    """The expression with every parameter of every call, defaults too, and outputs by number. Raises OpError."""
    return ast.unparse(_Writer(name).visit(parse_expression(text, name)))


class _Writer(ast.NodeTransformer):
    """Fills calls in. Raises OpError where one does not fit its operator."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Call(self, call: ast.Call) -> ast.Call:
        self.generic_visit(call)
        if not isinstance(call.func, ast.Name):
            raise OpError(f"{self.name!r} is no graph: {ast.unparse(call.func)!r} is no operator's name.")
        op, given = _op.load(call.func.id), [keyword.arg for keyword in call.keywords]
        least = len(op.tensors) - len(op.optional) if not op.variadic else 1
        if len(call.args) < least or (len(call.args) > len(op.tensors) and not op.variadic):
            takes = ", ".join(op.tensors)
            raise OpError(f"{self.name!r}: {op.name} takes the tensors {takes}; expected these, got {len(call.args)}.")
        for word in given:
            if word not in op.params:
                raise OpError(f"{self.name!r}: {op.name} has no parameter {word!r}{suggest(str(word), op.params)}")
        for word, default in op.params.items():
            if word not in given and default is inspect.Parameter.empty:
                raise OpError(f"{self.name!r}: {op.name} needs its parameter {word!r}.")
            if word not in given:
                call.keywords.append(ast.keyword(word, ast.Constant(default)))
        call.args += [ast.Constant(None)] * (0 if op.variadic else len(op.tensors) - len(call.args))
        return call

    def visit_Attribute(self, found: ast.Attribute) -> ast.expr:
        self.generic_visit(found)
        if not isinstance(found.value, ast.Call) or not isinstance(found.value.func, ast.Name):
            raise OpError(f"{self.name!r} is no graph: .{found.attr} stands behind no call.")
        op = _op.load(found.value.func.id)
        if found.attr in op.outputs:
            return ast.Subscript(found.value, ast.Constant(op.outputs.index(found.attr)))
        if len(op.outputs) == 1 and found.attr.removeprefix("y").isdigit():  # of those that have as many as one likes
            return ast.Subscript(found.value, ast.Constant(int(found.attr.removeprefix("y"))))
        expected = ", ".join(op.outputs)
        raise OpError(f"{self.name!r}: {op.name} has no output {found.attr!r}; expected one of {expected}.")


def _pull_back(
    graph: OperatorGraph, op_of: Callable[[str], Op], g: Any, y: Any, *tensors: Any, **params: Any
) -> tuple[Any, ...]:
    """Gradients of the tensors by those of the nodes, from the last to the first; None where there is none."""
    import numpy as np

    del y
    operands: list[list[Any]] = []

    def call(node: GraphNode, given: list[Any]) -> Any:
        operands.append(given)
        return [*map(store_between, tuple_of(op_of(node.op).forward(*given, **node.fill_in(params))))]

    outputs = graph.evaluate(call, *tensors)
    gradients: dict[str | Edge, Any] = {}  # None where calls that take it give none, as of running statistics

    def add(to: str | Edge | None, gradient: Any) -> None:
        if to is not None:
            known = gradients.get(to)
            gradients[to] = gradient if known is None else known if gradient is None else known + gradient

    for edge, cotangent in zip(graph.results, tuple_of(g), strict=True):
        add(edge, cotangent)
    for number, node in reversed([*enumerate(graph.nodes)]):
        given = [gradients.get((number, i)) for i in range(len(outputs[number]))]
        if all(c is None for c in given):
            continue
        op = op_of(node.op)
        if op.vjp is None:
            raise OpError(f"{op.name} has no gradient, which its graph asks for.")
        whole = [
            np.zeros_like(y) if c is None and y.dtype.kind == "f" else c
            for c, y in zip(given, outputs[number], strict=True)
        ]
        found = gradients_of(op, whole, outputs[number], operands[number], node.fill_in(params))
        for operand, gradient in zip(node.operands, found, strict=True):
            add(operand, store_between(gradient))
    return tuple(
        gradients.get(name, np.zeros_like(x) if x.dtype.kind == "f" else None)
        for name, x in zip(graph.tensors, tensors, strict=True)
    )


def _find_domain(graph: OperatorGraph, shapes: Mapping[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    """What holds for each tensor: the domain of the first call that takes it."""
    import numpy as np

    found: dict[str, Any] = {}

    def call(node: GraphNode, given: list[Any]) -> Any:
        op, filled = _op.load(node.op), node.fill_in(params)
        names = op.tensors if not op.variadic else [f"x{i}" for i in range(len(given))]
        own = {name: np.shape(x) for name, x in zip(names, given, strict=True) if x is not None}
        domain = dict(op.domain(own, **filled)) if op.domain else {}
        placed = [_place(domain.get(name), x) for name, x in zip(names, given, strict=True)]
        for name, operand in zip(names, node.operands, strict=True):
            if isinstance(operand, str) and name in domain:
                found.setdefault(operand, domain[name])
        with np.errstate(all="ignore"):
            return op.forward(*placed, **filled)

    graph.evaluate(call, *(np.ones(shapes[name]) for name in graph.tensors))
    return found


def _place(constraint: Any, x: Any) -> Any:
    """A tensor of the shape of `x` that the call can take."""
    import numpy as np

    if isinstance(constraint, range):
        return np.full(np.shape(x), constraint.start)
    return np.zeros(np.shape(x), np.int64) if callable(constraint) else x
