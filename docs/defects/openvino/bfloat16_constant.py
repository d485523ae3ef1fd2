"""A bfloat16 number of a model's int32_data is read as an integer: 3 is 16384

Ledger: fill forward
Expected: 3.0
"""

import openvino
from onnx import TensorProto, helper

x, y = (helper.make_tensor_value_info(n, t, (1,)) for n, t in (("x", TensorProto.INT64), ("y", TensorProto.FLOAT)))
three = helper.make_tensor("value", TensorProto.BFLOAT16, (1,), [3.0])
nodes = [helper.make_node("ConstantOfShape", ["x"], ["z"], value=three), helper.make_node("Cast", ["z"], ["y"], to=1)]
model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 18)])
compiled = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU")
print(float(compiled({"x": [1]})[0][0]))
