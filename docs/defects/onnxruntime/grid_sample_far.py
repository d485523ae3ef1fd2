"""GridSample gives 0 for a place far beyond the border

Under padding_mode border it is the edge. Cells are weighed before the place is cut off: past 2^24 both weights are 0.

Ledger: grid_sample forward
Expected: [3.0, 3.0, 1.0]
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 1, 1, 9))
grid = helper.make_tensor_value_info("grid", TensorProto.FLOAT, (1, 1, 3, 2))
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
node = helper.make_node("GridSample", ["x", "grid"], ["y"], mode="linear", padding_mode="border", align_corners=1)
graph = helper.make_graph([node], "g", [x, grid], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
cells = np.array([1, 1, 1, 1, 1, 1, 1, 1, 3], np.float32).reshape(1, 1, 1, 9)
places = np.array([[1e4, 0], [1e7, 0], [-1e7, 0]], np.float32).reshape(1, 1, 3, 2)
print(session.run(None, {"x": cells, "grid": places})[0].ravel().tolist())
