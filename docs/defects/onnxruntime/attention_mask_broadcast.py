"""Attention refuses a mask of one row for all queries

ONNX says the mask is broadcast to (batch, heads, queries, keys).

Ledger: scaled_dot_product_attention forward
Expected: (2, 2, 8, 5)
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

shapes = {"q": (2, 2, 8, 5), "k": (2, 2, 3, 5), "v": (2, 2, 3, 5)}
inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
mask = helper.make_tensor_value_info("mask", TensorProto.BOOL, (2, 1, 1, 3))
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
graph = helper.make_graph([helper.make_node("Attention", [*shapes, "mask"], ["y"])], "g", [*inputs, mask], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
onnxruntime.set_default_logger_severity(4)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
given = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
print(session.run(None, {**given, "mask": np.ones((2, 1, 1, 3), bool)})[0].shape)
