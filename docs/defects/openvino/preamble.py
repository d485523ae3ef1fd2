"""What some programs of this page begin with: a model of one ONNX operator, run by OpenVINO on the CPU, in float32."""

import ml_dtypes
import numpy as np
import openvino
from onnx import helper, numpy_helper

CONFIG = {"INFERENCE_PRECISION_HINT": "f32"}


def run(op, inputs, outputs=1, opset=18, constant=(), **attributes):
    """The outputs of the operator. An input that is None is left out, those of `constant` stand in the model."""
    given = {f"x{i}": np.asarray(x) for i, x in enumerate(inputs) if x is not None}
    constants = [numpy_helper.from_array(given.pop(f"x{i}"), f"x{i}") for i in constant]
    infos = [helper.make_tensor_value_info(k, _element(x), x.shape) for k, x in given.items()]
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, ["" if x is None else f"x{i}" for i, x in enumerate(inputs)], names, **attributes)
    graph = helper.make_graph(
        [node], "g", infos, [helper.make_empty_tensor_value_info(name) for name in names], constants
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    compiled = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", CONFIG)
    return [_array(y) for y in compiled({k: _tensor(x) for k, x in given.items()}).values()]


def _tensor(x):
    if x.dtype.name != "bfloat16":
        return x
    return openvino.Tensor(x.view(np.uint16), openvino.Shape(x.shape), openvino.Type.bf16)


def _array(y):
    return y.view(ml_dtypes.bfloat16) if y.dtype in (np.uint16, np.int16) else y


def _element(x):
    return helper.np_dtype_to_tensor_dtype(x.dtype)


def f32(*values):
    return np.array(values, np.float32)
