"""Sigmoid is 17 % off at -15, and 0 below -18

It is a rational approximation. Swish, and the gates of recurrent layers, are made of it.

Ledger: sigmoid forward, silu forward, gelu_quick forward
Upstream: https://github.com/microsoft/onnxruntime/issues/22557
Expected: 3.06e-07 5.60e-09
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (2,))
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"])], "g", [x], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(y,) = session.run(None, {"x": np.array([-15, -19], np.float32)})
print(f"{y[0]:.2e} {y[1]:.2e}")
