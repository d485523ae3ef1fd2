"""An ONNX model read from its file, and computed node by node as calls of our operators, on tape.

Inputs are drawn. What follows from weights and shapes alone is worked out, and what our operators do not express is
computed by the onnx package, in the model's own dtypes: no error is followed through it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.errors import UsageError
from opproof.core.tuples import tuple_of
from opproof.reference_ops._op import Op, load
from opproof.reference_ops._tape import Source, Tape, TapedCall
from opproof.reference_ops._torch_calls import OperatorCall, to_plain
from opproof.reference_ops.onnx.shared import NotTranslatable, express
from opproof.reference_ops.onnx.table import MAP

#: Nodes that compute nothing.
WITHOUT_ARITHMETIC = {"Constant", "ConstantOfShape", "Identity", "Dropout", "Shape", "Size", "Reshape", "Flatten"}
WITHOUT_ARITHMETIC |= {"Squeeze", "Unsqueeze", "Range", "RandomNormal", "RandomUniform", "EyeLike"}
#: Integers that inputs hold: rows that any table of two has.
_DRAWN_INTEGERS = 2


def load_model(path: Path, dims: Mapping[str, int], *, weights: bool) -> tuple[Any, list[str]]:
    """The model, its free axes as long as `dims` says, and the names of those taken to be 1 long.

    Raises UsageError where it is no model, `dims` names no axis of its inputs, or onnx is not installed.
    """
    if not path.is_file():
        raise UsageError(f"no model {path}: expected an ONNX file.")
    try:
        import onnx
    except ImportError:
        raise UsageError("an ONNX model needs onnx, which is not installed: pip install onnx.") from None
    try:
        model = onnx.load(path, load_external_data=weights)
    except Exception as error:  # protobuf's own, by version
        raise UsageError(f"{path} is no ONNX model: {' '.join(str(error).split())}.") from None
    _state_axes(model)
    free = _free_axes(model)
    if unknown := [n for n in dims if n not in free]:
        raise UsageError(f"{path} has no axis {unknown[0]!r}: expected one of {', '.join(free) or 'none'}.")
    for dim in (d for given in model.graph.input for d in given.type.tensor_type.shape.dim):
        if not dim.HasField("dim_value"):
            dim.dim_value = dims.get(dim.dim_param, 1)
    return model, [n for n in free if n not in dims]


#: Nodes that before opset 13 joined all axes from theirs on, by default from the second, and since take one, the last.
_OF_JOINED_AXES = {"Softmax", "LogSoftmax", "Hardmax"}
_OPSET_OF_ONE_AXIS = 13


def _is_of_joined_axes(model: Any, node: Any) -> bool:
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=_OPSET_OF_ONE_AXIS)
    return opset < _OPSET_OF_ONE_AXIS and node.op_type in _OF_JOINED_AXES


def _state_axes(model: Any) -> None:
    """Give nodes of older opsets the axis that they had by default."""
    from onnx import helper

    for node in model.graph.node:
        if _is_of_joined_axes(model, node) and not any(a.name == "axis" for a in node.attribute):
            node.attribute.append(helper.make_attribute("axis", 1))


def _free_axes(model: Any) -> list[str]:
    """Names of axes of the inputs that have no length, in the order of the inputs."""
    named = (d.dim_param for i in inputs_of(model) for d in i.type.tensor_type.shape.dim if not d.HasField("dim_value"))
    return [*dict.fromkeys(named)]


def inputs_of(model: Any) -> list[Any]:
    """The inputs that are tensors and no weights."""
    weights = {w.name for w in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in weights and i.type.HasField("tensor_type")]


def attributes_of(node: Any) -> dict[str, Any]:
    """The attributes of a node, as plain values and arrays."""
    from onnx import TensorProto, helper, numpy_helper

    def plain(value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode()
        return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value

    return {a.name: plain(helper.get_attribute_value(a)) for a in node.attribute}


def trace_model(path: Path, dims: Mapping[str, int], seed: int) -> tuple[Tape, list[str]]:
    """The model on tape, computed from inputs that are drawn, and its axes that were taken to be 1 long.

    Raises UsageError where it cannot be read, or a node not be computed.
    """
    model, ones = load_model(path, dims, weights=True)
    rng = np.random.default_rng(seed)
    return trace_nodes(model, [_draw(rng, i) for i in inputs_of(model)], str(path)), ones


def _draw(rng: np.random.Generator, described: Any) -> NDArray[Any]:
    from onnx import helper

    kind = described.type.tensor_type
    dtype, shape = helper.tensor_dtype_to_np_dtype(kind.elem_type), [d.dim_value for d in kind.shape.dim]
    if dtype.kind in "iub":
        return rng.integers(0, _DRAWN_INTEGERS, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def trace_nodes(model: Any, inputs: Sequence[NDArray[Any]], name: str) -> Tape:
    """The model called `name` on tape, from these inputs. Raises UsageError where a node cannot be computed."""
    taping = _Taping(model, inputs, name)
    for node in model.graph.node:
        taping.visit(node)
    given = [taping.values[y.name] for y in model.graph.output]
    sources = list(map(taping.find_source, given))
    pairs = zip(given, sources, strict=True)
    taping.tape.results = [s for y, s in pairs if isinstance(s, tuple) and y.dtype.kind == "f"]
    taping.tape.prune(sources)
    taping.tape.finish(name)
    return taping.tape


def _keeps_dtype(node: Any, operands: Sequence[Any]) -> bool:
    """Whether a node converts to the dtype that its tensor has."""
    from onnx import helper

    if node.op_type == "CastLike":
        return bool(operands[0].dtype == operands[1].dtype)
    if node.op_type != "Cast":
        return False
    return bool(operands[0].dtype == helper.tensor_dtype_to_np_dtype(attributes_of(node)["to"]))


class _Traced(np.ndarray[Any, Any]):
    """An array whose calls are on tape; an entry of the table may ask for it in the dtype that it has."""

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        return self if np.dtype(dtype) == self.dtype else super().astype(dtype, *args, **kwargs)


class _Taping:
    """The values of a model's tensors, node by node, and where each comes from."""

    def __init__(self, model: Any, inputs: Sequence[NDArray[Any]], name: str) -> None:
        from onnx import numpy_helper

        self.tape, self.name, self.model = Tape(), name, model
        self.opsets = {o.domain: o.version for o in model.opset_import}
        self.values = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
        self.live: set[str] = set()  # names of what depends on the inputs
        self._tensors: dict[int, tuple[Any, Any]] = {}  # of PyTorch, by the identity of the array that has its values
        for described, values in zip(inputs_of(model), inputs, strict=True):
            self.values[described.name] = values
            self.live.add(described.name)
            self.tape.source_of(self._tensor_of(values))

    def visit(self, node: Any) -> None:
        """Compute a node. Raises UsageError where nothing can."""
        operands = [self.values[n] if n else None for n in node.input]
        changing = node.input[:1] if node.op_type == "CastLike" else node.input  # its second says a dtype alone
        live = bool(self.live.intersection(changing)) and node.op_type not in ("Shape", "Size")
        before = len(self.tape.calls)
        try:
            if _keeps_dtype(node, operands):
                results: list[Any] | None = operands[:1]
            else:
                results = list(self._translate(node, operands)) if live and node.op_type in MAP else None
        except (NotTranslatable, TypeError, ValueError, RuntimeError, IndexError, KeyError, AttributeError):
            del self.tape.calls[before:]
            results = None
        if results is None or any(y is None for n, y in zip(node.output, results, strict=False) if n):
            del self.tape.calls[before:]
            results = self._evaluate(node, operands, live=live)
        for name, result in zip(node.output, results, strict=False):
            self.values[name] = result
            if live:
                self.live.add(name)

    def _translate(self, node: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
        """What the node gives by our operators, each call of which is noted."""

        def ref(name: str, *tensors: Any, **params: Any) -> Any:
            return self._call(node, load(name), tensors, params)

        attributes = attributes_of(node)
        if _is_of_joined_axes(self.model, node):
            (x,) = operands
            lead = int(np.prod(x.shape[: attributes["axis"] % x.ndim]))
            joined = ref("reshape", x, shape=(lead, x.size // lead))
            return (ref("reshape", express(MAP[node.op_type], ref, [joined], {"axis": -1}, 1), shape=x.shape),)
        return tuple_of(express(MAP[node.op_type], ref, operands, attributes, len(node.output)))

    def _call(self, node: Any, op: Op, tensors: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.torch is None:
            raise NotTranslatable("no PyTorch twin")
        names = [chr(ord("a") + i) for i in range(len(tensors))] if op.variadic else [*op.tensors]
        named = {n: np.asanyarray(x) for n, x in zip(names, tensors, strict=False) if x is not None}
        plain = {n: to_plain(v, op.params.get(n)) for n, v in params.items()}
        apart = {n: v for n, v in plain.items() if v != op.params.get(n)}

        def call_of(given: Sequence[Any]) -> OperatorCall:
            return OperatorCall(op, dict(zip(named, given, strict=True)), apart)

        sources = [self._tensor_of(x) for x in named.values()]
        result = tuple_of(call_of(sources).twin())
        call = TapedCall(
            op.name, node.name or node.output[0], tuple(map(self.tape.source_of, sources)),
            lambda given, wide: call_of(given).twin(), call_of, node.op_type not in WITHOUT_ARITHMETIC,
        )  # fmt: skip
        self.tape.add(call, result)
        arrays = [self._array_of(y) for y in result]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def _evaluate(self, node: Any, operands: Sequence[Any], *, live: bool) -> list[Any]:
        """What the onnx package gives; noted where it depends on the inputs. Raises UsageError."""
        import torch
        from onnx.reference import ReferenceEvaluator

        def compute(arrays: Sequence[Any]) -> list[Any]:
            feed = dict(zip(filter(None, node.input), arrays, strict=True))
            return list(ReferenceEvaluator(node, opsets=self.opsets).run(None, feed))

        given = [np.asarray(x) for x in operands if x is not None]
        try:
            results = compute(given)
        except Exception as error:  # whatever a node that nobody checked raises
            said = " ".join(str(error).split())
            where = f"the node {node.name or node.output[0]} ({node.op_type})"
            by = "is computed neither by operators of opproof nor by the onnx package"
            raise UsageError(f"{self.name}: {where} {by}: {said}") from None
        if not live or node.op_type in ("Shape", "Size"):
            return results

        def apply(tensors: Sequence[Any], wide: bool) -> list[Any]:
            arrays = [t.detach().numpy().astype(x.dtype) for t, x in zip(tensors, given, strict=True)]
            return [torch.from_numpy(np.array(y)) for y in compute(arrays)]

        tensors = [self._tensor_of(x) for x in operands if x is not None]
        outputs = [torch.from_numpy(np.array(y)) for y in results]
        sources = tuple(map(self.tape.source_of, tensors))
        self.tape.others[node.op_type] += 1
        self.tape.add(TapedCall(node.op_type, node.name or node.output[0], sources, apply), outputs)
        return [self._array_of(y) for y in outputs]

    def find_source(self, array: Any) -> Source:
        """Where the array comes from."""
        return self.tape.source_of(self._tensor_of(array))

    def _array_of(self, tensor: Any) -> Any:
        """The tensor as an array that is known again, also by its views."""
        whole = np.array(tensor.detach().numpy())
        traced = whole.view(_Traced)
        self._tensors[id(traced)] = traced, tensor
        self._tensors[id(whole)] = whole, tensor
        return traced

    def _tensor_of(self, array: Any) -> Any:
        """The tensor of an array: that of a call, a view of one, or one that is given."""
        import torch

        base = getattr(array, "base", None)
        if id(array) in self._tensors:
            return self._tensors[id(array)][1]
        if base is not None and id(base) in self._tensors and min(array.strides, default=0) >= 0:
            place = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            view = array.shape, [n // array.itemsize for n in array.strides], place // array.itemsize
            whole = self._tensors[id(base)][1]
            made = torch.as_strided(whole.contiguous(), *view).clone()
            call = TapedCall(
                "view", "", (self.tape.source_of(whole),), lambda t, _: torch.as_strided(t[0].contiguous(), *view)
            )
            self.tape.add(call, [made])
        else:
            made = torch.from_numpy(np.array(array))
        self._tensors[id(array)] = array, made
        return made
