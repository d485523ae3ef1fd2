"""ReduceMax passes over NaN unless it comes first, MaxPool always

Ledger: amax forward, amin forward, argmax forward, argmin forward, max_pool1d forward, max_pool2d forward
Expected:
    ReduceMax nan nan
    MaxPool nan nan
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

for op, attributes in (("ReduceMax", {"keepdims": 1}), ("MaxPool", {"kernel_shape": [3]})):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 1, 3))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    got = [
        session.run(None, {"x": np.array([[row]], np.float32)})[0].item() for row in ([np.nan, 1, 2], [1, np.nan, 2])
    ]
    print(op, *got)
