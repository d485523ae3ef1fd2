"""Shrink rounds float64 to float32

Its results of float64 are numbers of float32.

Ledger: hardshrink forward, softshrink forward
Expected: 0.3333333333333333
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = helper.make_tensor_value_info("x", TensorProto.DOUBLE, (1,))
y = helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)
graph = helper.make_graph([helper.make_node("Shrink", ["x"], ["y"], lambd=0.25)], "g", [x], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print(session.run(None, {"x": np.array([1 / 3])})[0][0].item())
