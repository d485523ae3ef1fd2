"""BatchNormalization in training mode writes the next moments over constants that others share

Equal constants are one in memory from basic optimisation on, so the scale changes with the variance, and the bias with
the mean. With graph optimisations disabled the result is right.

Ledger: batch_norm forward
Upstream: https://github.com/microsoft/onnxruntime/issues/29790
Expected:
    [-1.41, -0.71, 0.0, 0.71, 1.41]
    [-1.41, -0.71, 0.0, 0.71, 1.41]
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

given = {"scale": 1, "bias": 0, "mean": 0, "variance": 1}
constants = [numpy_helper.from_array(np.full(1, v, np.float32), k) for k, v in given.items()]
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (5, 1))
y = helper.make_empty_tensor_value_info("y")
node = helper.make_node("BatchNormalization", ["x", *given], ["y", "next_mean", "next_variance"], training_mode=1)
graph = helper.make_graph([node], "g", [x], [y], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString())
for _ in range(2):
    print(
        session.run(None, {"x": np.arange(5, dtype=np.float32).reshape(5, 1)})[0]
        .ravel()
        .astype(float)
        .round(2)
        .tolist()
    )
