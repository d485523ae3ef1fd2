"""What some programs of this page begin with: a model of one ONNX operator, run by ONNX Runtime on the CPU."""

import numpy as np
import onnxruntime
from onnx import helper

onnxruntime.set_default_logger_severity(4)


def run(op, inputs, outputs=1, opset=18, **attributes):
    """The outputs of the operator; an input that is None is left out."""
    given = {f"x{i}": np.asarray(x) for i, x in enumerate(inputs) if x is not None}
    infos = [helper.make_tensor_value_info(k, _element(x), x.shape) for k, x in given.items()]
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, [f"x{i}" if f"x{i}" in given else "" for i in range(len(inputs))], names, **attributes)
    graph = helper.make_graph([node], "g", infos, [helper.make_empty_tensor_value_info(name) for name in names])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, given)


def _element(x):
    return helper.np_dtype_to_tensor_dtype(x.dtype)


def f32(*values):
    return np.array(values, np.float32)
