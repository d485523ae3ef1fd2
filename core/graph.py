"""Graphs: a small program of operators in the text of an expression, read without knowing the operators.

    gelu(add(matmul(x,w),bias),approximate='none')

A bare name where a tensor stands is an input, where the value of a parameter stands (`dim=axis`) a parameter of the
graph. `[1]` behind a call takes its second output, and a tuple of expressions is several results. What is written
twice is computed once; `(h:=relu(x))` names what a call gives, and `h` is that from there on.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from opproof.core.errors import OpError
from opproof.core.tuples import tuple_of

#: How the name of an operator begins that is a graph.
PREFIX = "graph:"
#: What a call takes from another one: its number and that of its output.
Edge: TypeAlias = tuple[int, int]
#: A tensor of the graph by name, an edge, or None where an optional tensor is left out.
Operand: TypeAlias = "str | Edge | None"


@dataclass(frozen=True)
class Parameter:
    """A parameter of the graph, where it stands in a call."""

    name: str


@dataclass(frozen=True)
class GraphNode:
    """One call of an operator."""

    op: str
    operands: tuple[Operand, ...]
    params: tuple[tuple[str, Any], ...]

    def fill_in(self, params: dict[str, Any]) -> dict[str, Any]:
        """Its parameters, those that are the graph's with their values from `params`."""
        return {name: params[v.name] if isinstance(v, Parameter) else v for name, v in self.params}


@dataclass(frozen=True)
class OperatorGraph:
    """Calls, each after those that it takes from, and which of their outputs are results."""

    nodes: tuple[GraphNode, ...]
    results: tuple[Edge, ...]
    tensors: tuple[str, ...]
    params: tuple[str, ...]

    @property
    def operators(self) -> frozenset[str]:
        """The names of what it calls."""
        return frozenset(node.op for node in self.nodes)

    def evaluate(self, call: Callable[[GraphNode, list[Any]], Any], *tensors: Any) -> list[tuple[Any, ...]]:
        """The outputs of every node, from `call(node, operands)`."""
        given = dict(zip(self.tensors, tensors, strict=True))
        found: list[tuple[Any, ...]] = []
        for node in self.nodes:
            operands = [
                x if x is None else given[x] if isinstance(x, str) else found[x[0]][x[1]] for x in node.operands
            ]
            found.append(tuple_of(call(node, operands)))
        return found

    def compose(
        self, function_of: Callable[[str], Callable[..., Any]], pass_on: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """One function of the graph's tensors and parameters, made of a function for each operator's name.

        What is given before the tensors, a library or a model, is given to every call. `pass_on(*those, value)` stands
        for what goes from one call to another.
        """

        def composed(*given: Any, **params: Any) -> Any:
            shared = given[: len(given) - len(self.tensors)]

            def call(node: GraphNode, operands: list[Any]) -> list[Any]:
                outputs = tuple_of(function_of(node.op)(*shared, *operands, **node.fill_in(params)))
                return [y if pass_on is None or y is None else pass_on(*shared, y) for y in outputs]

            found = self.evaluate(call, *given[len(shared) :])
            results = [found[node][output] for node, output in self.results]
            return results[0] if len(results) == 1 else results

        return composed


def is_graph(op: str) -> bool:
    """Whether an operator's name is that of a graph."""
    return op.startswith(PREFIX)


def operators_of(op: str) -> frozenset[str]:
    """The operators that a graph calls, or `op` itself. Raises OpError for what is no graph."""
    return parse_graph(op).operators if is_graph(op) else frozenset((op,))


def parse_expression(text: str, name: str) -> ast.expr:
    """The syntax tree of the graph `name`. Raises OpError where `text` is no expression."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise OpError(f"{name!r} is no graph: {error.msg}; expected calls, as in {PREFIX}relu(add(a,b)).") from None


@functools.lru_cache(maxsize=256)
def parse_graph(text: str) -> OperatorGraph:
    """Read the expression behind PREFIX. Raises OpError where it is none."""
    reader = _Reader(text)
    tree = parse_expression(text.removeprefix(PREFIX), text)
    results = [reader.read(part) for part in (tree.elts if isinstance(tree, ast.Tuple) else [tree])]
    edges = tuple(edge for edge in results if isinstance(edge, tuple))
    if len(edges) < len(results) or not edges:
        raise OpError(f"{text!r} is no graph: a result is no call; expected calls, as in {PREFIX}relu(add(a,b)).")
    if both := sorted(set(reader.tensors) & set(reader.params)):
        raise OpError(f"{text!r}: {both[0]} is a tensor in one place and a parameter in another; give it two names.")
    return OperatorGraph(tuple(reader.nodes), edges, tuple(reader.tensors), tuple(reader.params))


@dataclass
class _Reader:
    """What has been read of an expression so far."""

    text: str
    nodes: dict[GraphNode, int] = field(default_factory=dict)
    tensors: dict[str, None] = field(default_factory=dict)
    params: dict[str, None] = field(default_factory=dict)
    named: dict[str, Operand] = field(default_factory=dict)  # what calls give, by the names that the text gives them

    def read(self, tree: ast.expr) -> Operand:
        match tree:
            case ast.Name(id=name) if name in self.named:
                return self.named[name]
            case ast.Name(id=name):
                self.tensors[name] = None
                return name
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                if name in self.tensors or name in self.named:
                    raise OpError(f"{self.text!r} is no graph: {name} is something else before it is named.")
                self.named[name] = self.read(value)
                return self.named[name]
            case ast.Constant(value=None):
                return None
            case ast.Call(func=ast.Name(id=op)):
                node = GraphNode(op, tuple(map(self.read, tree.args)), tuple(map(self._read_param, tree.keywords)))
                return self.nodes.setdefault(node, len(self.nodes)), 0
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int(output))) if output >= 0:
                edge = self.read(call)
                assert isinstance(edge, tuple)
                return edge[0], output
        found = ast.unparse(tree)
        raise OpError(f"{self.text!r} is no graph: {found!r} is neither a call, nor a name, nor None.")

    def _read_param(self, keyword: ast.keyword) -> tuple[str, Any]:
        if keyword.arg is None:
            raise OpError(f"{self.text!r} is no graph: expected parameters by name, not {ast.unparse(keyword)!r}.")
        if isinstance(keyword.value, ast.Name):
            self.params[keyword.value.id] = None
            return keyword.arg, Parameter(keyword.value.id)
        try:
            value = ast.literal_eval(keyword.value)
            hash(value)  # neither a list nor a set
        except (TypeError, ValueError):
            found = ast.unparse(keyword.value)
            raise OpError(
                f"{self.text!r} is no graph: {keyword.arg}={found} is neither a number, a word nor a name."
            ) from None
        return keyword.arg, value


def store_between(y: Any) -> Any:
    """What goes from one call to another: under noise as it is stored in between (harness/reference/montecarlo)."""
    return y.store() if hasattr(y, "store") else y
