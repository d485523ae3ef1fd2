"""GroupNormalization takes the variance as E[x^2] - E[x]^2

Of a mean of 1e4 and a deviation of 1.1 nothing is left, and the quotient is by the root of epsilon.

Ledger: group_norm forward
Expected: [-1.342, -0.447, 0.447, 1.342]
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

shapes = {"x": (1, 1, 4), "scale": (1,), "bias": (1,)}
inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
graph = helper.make_graph([helper.make_node("GroupNormalization", [*shapes], ["y"], num_groups=1)], "g", inputs, [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
x = np.array([[[10000, 10001, 10002, 10003]]], np.float32)
(y,) = session.run(None, {"x": x, "scale": np.ones(1, np.float32), "bias": np.zeros(1, np.float32)})
print([round(float(v), 3) for v in y.ravel()])
