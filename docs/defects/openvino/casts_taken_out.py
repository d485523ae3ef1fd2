"""Two Casts in a row are taken out, also where they round

Ledger: cast forward
Expected: [1.0, inf]
"""

import numpy as np
import openvino
from onnx import TensorProto, helper

x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, (2,)) for name in "xy")
there, back = (
    helper.make_node("Cast", [a], [b], to=to)
    for a, b, to in (("x", "h", TensorProto.FLOAT16), ("h", "y", TensorProto.FLOAT))
)
model = helper.make_model(helper.make_graph([there, back], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 18)])
read = openvino.Core().read_model(model.SerializeToString())
compiled = openvino.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
print(compiled({"x": np.array([1.0001, 70000], np.float32)})[0].tolist())
