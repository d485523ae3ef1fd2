"""Cast to float8 without saturation: NaN where float8_e5m2 has infinity, 448 past the range of float8_e4m3

With saturate = 0 the specification has infinity for what float8_e5m2 cannot hold, and NaN for float8_e4m3fn, whose
largest number is 448.

Ledger: cast forward
Expected: inf nan
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def cast(value, to):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT16, (1,)) for name in "xy")
    there = helper.make_node("Cast", ["x"], ["z"], to=to, saturate=0)
    back = helper.make_node("Cast", ["z"], ["y"], to=TensorProto.FLOAT16)
    graph = helper.make_graph([there, back], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.array([value], np.float16)})[0][0]


print(cast(65000, TensorProto.FLOAT8E5M2), cast(490, TensorProto.FLOAT8E4M3FN))
