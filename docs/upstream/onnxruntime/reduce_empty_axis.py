"""An empty array reduced along a negative axis keeps its shape

Along axis 1, which is the same, it does not.

Ledger: sum forward, amax forward, mean forward, prod forward, norm forward, argmax forward
Expected:
    axis 1 (3,)
    axis -1 (3,)
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

for axis in (1, -1):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (3, 0))
    axes = helper.make_tensor("axes", TensorProto.INT64, [1], [axis])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)
    graph = helper.make_graph([node], "g", [x], [y], [axes])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    print("axis", axis, session.run(None, {"x": np.zeros((3, 0), np.float32)})[0].shape)
