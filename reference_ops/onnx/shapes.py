"""What an ONNX model calls, by shape inference: nothing of it is run, and no weight is read.

Every node whose operator is in the table that the ONNX oracle proves (onnx/table.py) is translated with arrays that
have a shape and no memory; what our operators make of them is asked of their PyTorch twins on torch's meta device.
Integers that say shapes, axes and indices are worked out as the model goes.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from opproof.core.tuples import tuple_of
from opproof.reference_ops import Op, load
from opproof.reference_ops._torch_calls import CallCounts, to_plain
from opproof.reference_ops.onnx.model import WITHOUT_ARITHMETIC, attributes_of, load_model
from opproof.reference_ops.onnx.shared import NotTranslatable, express
from opproof.reference_ops.onnx.table import MAP

#: Values of up to so many elements are worked out, where they follow from shapes and constants.
_MAX_FOLDED_ELEMENTS = 4096
_FLOATS = {1: "f32", 10: "f16", 11: "f64", 16: "bf16"}

Values = dict[str, NDArray[Any]]
#: Of a call the operator's name, the shapes of its tensors by name, its parameters and the dtype.
CalledShapes: TypeAlias = tuple[str, tuple[Any, ...], tuple[Any, ...], str]


def list_called_shapes(
    path: Path, dims: Mapping[str, int]
) -> tuple[dict[CalledShapes, CallCounts], Counter[str], list[str]]:
    """What the model at `path` calls, what of it is no operator of ours, and axes that are 1: not one of `dims`.

    Raises UsageError where it is no model, `dims` names no axis of its inputs, or onnx is not installed.
    """
    model, ones = load_model(path, dims, weights=False)
    walk = _Walk(model)
    for node in model.graph.node:
        walk.visit(node)
    return walk.calls, walk.unmapped, ones


class _Walk:
    """What is known of a model's tensors, node by node, and the calls so far."""

    def __init__(self, model: Any) -> None:
        from onnx import numpy_helper, shape_inference

        self.calls, self.unmapped = dict[CalledShapes, CallCounts](), Counter[str]()
        graph = shape_inference.infer_shapes(model, data_prop=True).graph
        self.dtypes: dict[str, int] = {w.name: w.data_type for w in graph.initializer}
        self.shapes: dict[str, tuple[int, ...]] = {w.name: tuple(w.dims) for w in graph.initializer}
        for info in (*graph.input, *graph.value_info, *graph.output):
            self._declare(info)
        self.values: Values = {
            w.name: numpy_helper.to_array(w)
            for w in graph.initializer
            if math.prod(w.dims) <= _MAX_FOLDED_ELEMENTS and w.data_location == w.DEFAULT
        }

    def _declare(self, info: Any) -> None:
        kind = info.type.tensor_type
        self.dtypes.setdefault(info.name, kind.elem_type)
        if kind.HasField("shape") and all(d.HasField("dim_value") for d in kind.shape.dim):
            self.shapes.setdefault(info.name, tuple(d.dim_value for d in kind.shape.dim))

    def visit(self, node: Any) -> None:
        """Count a node as the calls that it is, or as unmapped; what it gives is known afterwards, if it can be."""
        if self._fold_constants(node):
            return
        if any(n and n not in self.shapes for n in node.input):
            self.unmapped[node.op_type] += 1
            return
        floats = [self.dtypes[n] for n in node.input if self.dtypes.get(n) in _FLOATS]
        if node.op_type in WITHOUT_ARITHMETIC or not floats:
            return
        try:
            results = self._translate_node(node, _FLOATS[floats[0]]) if node.op_type in MAP else None
        except (NotTranslatable, TypeError, ValueError, RuntimeError, IndexError):  # RuntimeError: torch's, of shapes
            results = None
        if results is None:
            self.unmapped[node.op_type] += 1
        for name, result in zip(node.output, results or (), strict=False):
            if result is not None:
                self.shapes.setdefault(name, tuple(np.shape(result)))
                self.dtypes.setdefault(name, floats[0] if np.asarray(result).dtype.kind == "f" else 7)

    def _fold_constants(self, node: Any) -> bool:
        """Whether the node's values follow from shapes and constants, which are then known."""
        from onnx.reference import ReferenceEvaluator

        if node.op_type == "Shape" and node.input[0] in self.shapes:
            given = {a.name: a.i for a in node.attribute}
            whole = slice(given.get("start"), given.get("end"))
            self._note_value(node.output[0], np.array(self.shapes[node.input[0]][whole], dtype=np.int64))
            return True
        if any(n and n not in self.values for n in node.input) or any(a.HasField("g") for a in node.attribute):
            return False
        if any(math.prod(self.shapes.get(n, (_MAX_FOLDED_ELEMENTS + 1,))) > _MAX_FOLDED_ELEMENTS for n in node.output):
            return False
        try:
            given = {n: self.values[n] for n in node.input if n}
            for name, value in zip(node.output, ReferenceEvaluator(node).run(None, given), strict=False):
                self._note_value(name, np.asarray(value))
        except Exception:  # whatever a node that nobody checked raises: it stays unknown
            return False
        return True

    def _note_value(self, name: str, value: NDArray[Any]) -> None:
        self.values[name], self.shapes[name] = value, value.shape
        self.dtypes.setdefault(name, 1 if value.dtype.kind == "f" else 7)

    def _translate_node(self, node: Any, dtype: str) -> tuple[Any, ...]:
        """What the node gives by our operators: arrays without memory; every call of one is counted."""
        entry = MAP[node.op_type]
        seen: list[tuple[CalledShapes, int]] = []

        def ref(name: str, *tensors: Any, **params: Any) -> Any:
            op = load(name)
            result, flops = _infer_shapes(op, tensors, params)
            if any(t is not None and np.asarray(t).dtype.kind == "f" for t in tensors):
                seen.append((_shapes_of(op, tensors, params, dtype), flops))
            return result

        inputs = [self._array(n) if n else None for n in node.input]
        results = tuple_of(express(entry, ref, inputs, attributes_of(node), len(node.output)))
        for call, flops in seen:
            counts = self.calls.setdefault(call, CallCounts())
            counts.calls += 1
            counts.flops += flops
        return results

    def _array(self, name: str) -> NDArray[Any]:
        """A tensor's values where they are known, else zeros that take no memory; floats in float64."""
        floats = self.dtypes.get(name) in _FLOATS
        if name in self.values:
            return self.values[name].astype(np.float64) if floats else self.values[name]
        kind = np.float64 if floats else np.bool_ if self.dtypes.get(name) == 9 else np.int64
        return np.broadcast_to(np.zeros((), kind), self.shapes[name])


def _shapes_of(op: Op, tensors: Sequence[Any], params: Mapping[str, Any], dtype: str) -> CalledShapes:
    names = [chr(ord("a") + i) for i in range(len(tensors))] if op.variadic else [*op.tensors]
    shapes = tuple((n, tuple(np.shape(t))) for n, t in zip(names, tensors, strict=False) if t is not None)
    given = {n: to_plain(v, op.params.get(n)) for n, v in params.items()}
    apart = tuple((n, given[n]) for n in op.params if n in given and given[n] != op.params[n])
    return op.name, shapes, apart, dtype


def _infer_shapes(op: Op, tensors: Sequence[Any], params: Mapping[str, Any]) -> tuple[Any, int]:
    """Arrays without memory in the shapes of the operator's results, and how many FLOPs these take."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    if op.torch is None:
        raise NotTranslatable("no PyTorch twin")
    defaults = {n: d for n, d in op.params.items() if d is not inspect.Parameter.empty}
    made = [None if t is None else _make_meta(torch, t) for t in tensors]
    missing = [] if op.variadic else [None] * (len(op.tensors) - len(made))
    with FlopCounterMode(display=False) as flops, torch.device("meta"):  # what is made within lies there too
        results = [
            np.broadcast_to(np.zeros((), np.float64 if y.is_floating_point() else np.int64), tuple(y.shape))
            for y in tuple_of(op.torch(torch, *made, *missing, **(defaults | dict(params))))
        ]
    return results[0] if len(results) == 1 else tuple(results), flops.get_total_flops()


def _make_meta(torch: Any, array: Any) -> Any:
    """A tensor of the shape alone; of integers, which may say shapes, with its values."""
    values = np.asarray(array)
    if values.dtype.kind == "f":
        return torch.empty(values.shape, dtype=torch.float32, device="meta")
    return torch.as_tensor(values.copy()).to("meta")
