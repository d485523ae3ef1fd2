"""A small ONNX model per call: the operator's tensors as inputs, its parameters as attributes and constants.

An entry of a TABLE in this folder takes the model being made, the operator's tensors (None where an optional one
is absent) and its parameters by our names; it adds ONNX's node and gives back the names of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper, shape_inference

from opproof.backends.protocol import Unsupported, short_name_of
from opproof.backends.table import function_of, join_tables
from opproof.core.arrays import Array
from opproof.core.tuples import tuple_of

#: Operators that came after OPSET, by the opset that brought them, and such of which ONNX Runtime has an older one.
OPSETS = {"CumProd": 26, "BitCast": 26, "MaxRoiPool": 21, "MaxUnpool": 21, "LpPool": 21} | dict.fromkeys(
    ("Bernoulli", "Multinomial", "RandomNormalLike", "RandomUniformLike"), 21
)
#: The opset of all other models. From 25 on ONNX Runtime 1.31 no longer finds Swish, a function.
OPSET = 24
IR_VERSION = 11

#: ONNX's numbers of the dtypes.
ELEMENTS: dict[str, int] = {
    "f64": TensorProto.DOUBLE,
    "f32": TensorProto.FLOAT,
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "i64": TensorProto.INT64,
    "i32": TensorProto.INT32,
    "i16": TensorProto.INT16,
    "bool": TensorProto.BOOL,
    "ui8": TensorProto.UINT8,
    "i8": TensorProto.INT8,
    "u8": TensorProto.UINT8,
    "f8e4m3": TensorProto.FLOAT8E4M3FN,
    "f8e5m2": TensorProto.FLOAT8E5M2,
}


@dataclass(frozen=True)
class ModelInput:
    """An input of the model."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass
class Model:
    """Nodes and constants gathered so far."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    inputs: tuple[ModelInput, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)  # of inputs whose bytes are read as another dtype of 8 bits

    def read(self, x: ModelInput, kind: str) -> ModelInput:
        """`x`, whose bytes the model takes for `kind`."""
        self.kinds[x.name] = kind
        return x

    def node(self, kind: str, *inputs: ModelInput | str | None, **attributes: Any) -> str:
        """ONNX's operator `kind`; the name of its one result. None leaves an input out."""
        return self.nodes_results(kind, 1, *inputs, **attributes)[0]

    def nodes_results(self, kind: str, count: int, *inputs: ModelInput | str | None, **attributes: Any) -> list[str]:
        """ONNX's operator `kind` with `count` results, by name."""
        names = ["" if x is None else x if isinstance(x, str) else x.name for x in inputs]
        while names and not names[-1]:  # ONNX Runtime 1.31 dies of a LayerNormalization whose last input is left empty
            names.pop()
        results = [f"{kind}_{len(self.nodes)}_{i}" for i in range(count)]
        given = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(kind, names, results, **given))
        return results

    def constant(self, values: Any, dtype: str = "i64") -> str:
        """`values` as an initialiser; its name."""
        name = f"constant_{len(self.constants)}"
        array = np.asarray(values, dtype=helper.tensor_dtype_to_np_dtype(ELEMENTS[dtype]))
        self.constants.append(numpy_helper.from_array(array, name))
        return name


#: An operator as ONNX nodes: (model, *tensors, **params) to the name, or names, of the results.
Entry = Callable[..., str | Sequence[str]]


def load_tables() -> dict[str, Entry]:
    """Every entry by the name of our operator."""
    from opproof.backends.onnx import cells, control, losses, moves, nn, pointwise, reductions, windows

    return join_tables(pointwise, reductions, moves, nn, windows, losses, cells, control)


def key_of(op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> str:
    """What a model depends on, as text."""
    tensors = [None if x is None else (x.shape, x.dtype.name) for x in inputs]
    return f"{op} {tensors} {params}"


def build(table: Mapping[str, Entry], op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> bytes:
    """The model of one call, serialised; inputs are named x0, x1 and so on. Raises Unsupported."""
    function = function_of(table, op, "ONNX", _take_result)
    tensors = [
        None if x is None else ModelInput(f"x{i}", tuple(x.shape), short_name_of(x.dtype)) for i, x in enumerate(inputs)
    ]
    model = Model(inputs=tuple(t for t in tensors if t is not None))
    found = function(model, *tensors, **params)
    whole = _assemble(model, op, [y if isinstance(y, str) else y.name for y in tuple_of(found)])
    _check_types(whole)
    return bytes(whole.SerializeToString())


def _assemble(model: Model, title: str, results: Sequence[str]) -> ModelProto:
    """The nodes so far as ONNX's model, with these results, whose shapes and dtypes are for the library to infer."""
    graph = helper.make_graph(
        model.nodes,
        title,
        [helper.make_tensor_value_info(t.name, _element_of(model, t), t.shape) for t in model.inputs],
        [ValueInfoProto(name=name) for name in results],
        initializer=model.constants,
    )
    opset = next((OPSETS[node.op_type] for node in model.nodes if node.op_type in OPSETS), OPSET)
    domains = {"": opset} | {node.domain: 1 for node in model.nodes if node.domain}  # such as com.microsoft
    imports = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)


def _take_result(model: Model, name: str) -> ModelInput:
    """A result as another node takes it, with the shape and dtype that ONNX infers from the model so far."""
    whole = _assemble(model, name, [name])
    found = shape_inference.infer_shapes(whole, data_prop=True).graph.output[0].type.tensor_type
    if not found.HasField("shape") or not all(d.HasField("dim_value") for d in found.shape.dim):
        raise Unsupported(f"ONNX infers no shape for {name}, which another node takes")
    dtype = next(word for word, element in ELEMENTS.items() if element == found.elem_type)
    return ModelInput(name, tuple(d.dim_value for d in found.shape.dim), dtype)


def _element_of(model: Model, x: ModelInput) -> int:
    return ELEMENTS[model.kinds.get(x.name, x.dtype)]


def _check_types(model: ModelProto) -> None:
    """Raises Unsupported where ONNX has an operator, but not of the dtype; other mistakes the library itself finds."""
    try:
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except shape_inference.InferenceError as error:
        if "has unsupported type" in str(error):
            raise Unsupported(f"ONNX: {str(error).partition('] ')[2]}") from None
