"""Elu, Celu and Selu take exp(x) - 1 instead of expm1(x)

All digits are lost near 0: -1e-8 gives 0.

Ledger: elu forward, celu forward, selu forward
Expected: -9.9995e-05 -1.0000e-08
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (2,))
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
graph = helper.make_graph([helper.make_node("Elu", ["x"], ["y"])], "g", [x], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(y,) = session.run(None, {"x": np.array([-1e-4, -1e-8], np.float32)})
print(f"{y[0]:.4e} {y[1]:.4e}")
