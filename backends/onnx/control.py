"""ONNX's operators by ours: If, Loop and Scan, whose graphs are one function, and what draws numbers. See model.py."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import GraphProto, TensorProto, helper

from opproof.backends.onnx.model import ELEMENTS, Entry, Model, ModelInput
from opproof.backends.protocol import Unsupported

#: ONNX's operators by the names of functions.
_FUNCTIONS = {"add": "Add", "sub": "Sub", "mul": "Mul"}


def _find_function(name: str) -> str:
    if name not in _FUNCTIONS:
        raise Unsupported(f"ONNX has no operator {name}")
    return _FUNCTIONS[name]


def _make_graph(
    nodes: Sequence[tuple[str, tuple[str, ...], str]], inputs: Sequence[tuple[str, int, Sequence[int]]],
    outputs: Sequence[tuple[str, int, Sequence[int]]],
) -> GraphProto:  # fmt: skip
    """A graph of `nodes` (operator, inputs, output); names are its own, or those of the graph around it."""
    made = [helper.make_node(kind, list(given), [result]) for kind, given, result in nodes]
    values = [[helper.make_tensor_value_info(n, e, list(s)) for n, e, s in ends] for ends in (inputs, outputs)]
    return helper.make_graph(made, "body", *values)


def _branch(m: Model, index: ModelInput, a: ModelInput, b: ModelInput, *, functions: tuple[str, ...]) -> str:
    """If has two graphs: the first is for a condition that holds."""
    if len(functions) != 2:
        raise Unsupported("ONNX's If has two branches")
    ends = [(f"branch_{i}", ELEMENTS[a.dtype], a.shape) for i in range(2)]
    graphs = [
        _make_graph([(_find_function(f), (a.name, b.name), end[0])], [], [end])
        for f, end in zip(functions, ends, strict=True)
    ]
    condition = m.node("Cast", m.node("Reshape", index, m.constant(())), to=TensorProto.BOOL)
    return m.node("If", condition, then_branch=graphs[1], else_branch=graphs[0])


def _loop(m: Model, trips: ModelInput, x: ModelInput, b: ModelInput, *, function: str) -> str:
    kind = ELEMENTS[x.dtype]
    nodes = [("Identity", ("going",), "on"), (_find_function(function), ("state", b.name), "after")]
    truth, state = (TensorProto.BOOL, ()), (kind, x.shape)
    given = [("trip", TensorProto.INT64, ()), ("going", *truth), ("state", *state)]
    body = _make_graph(nodes, given, [("on", *truth), ("after", *state)])
    return m.node("Loop", m.node("Reshape", trips, m.constant(())), m.constant(True, "bool"), x, body=body)


def _scan(m: Model, h: ModelInput, x: ModelInput, *, function: str) -> list[str]:
    state = (ELEMENTS[x.dtype], h.shape)
    nodes = [(_find_function(function), ("state", "row"), "after"), ("Identity", ("after",), "seen")]
    body = _make_graph(nodes, [("state", *state), ("row", *state)], [("after", *state), ("seen", *state)])
    return m.nodes_results("Scan", 2, h, x, body=body, num_scan_inputs=1)


def _draw(kind: str) -> Entry:
    """An operator that draws in the shape and dtype of x, from `key` as its seed."""

    def entry(m: Model, x: ModelInput, drawn: ModelInput | None = None, *, key: int, **given: float) -> str:
        if drawn is not None:
            raise Unsupported(f"ONNX's {kind} draws its numbers")
        return m.node(kind, x, seed=float(key), **given)

    return entry


def _multinomial(m: Model, x: ModelInput, drawn: ModelInput | None = None, *, count: int, key: int) -> str:
    if drawn is not None:
        raise Unsupported("ONNX's Multinomial draws its classes")
    return m.node("Multinomial", x, sample_size=count, seed=float(key), dtype=TensorProto.INT64)


TABLE: dict[str, Entry] = {
    "branch": _branch,
    "loop": _loop,
    "scan": _scan,
    "bernoulli": _draw("Bernoulli"),
    "multinomial": _multinomial,
    "random_normal": _draw("RandomNormalLike"),
    "random_uniform": _draw("RandomUniformLike"),
}
