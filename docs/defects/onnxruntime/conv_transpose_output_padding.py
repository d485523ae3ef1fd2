"""ConvTranspose refuses an output_padding of a stride or more

ONNX has it "less than the corresponding stride/dilation dimension"; PyTorch takes one below either. Here it is 2, the
dilation 3, and the stride 2.

Ledger: conv_transpose1d forward, conv_transpose2d forward
Expected: (2, 3, 14)
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

shapes = {"x": (2, 2, 5), "w": (2, 3, 2)}
inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
node = helper.make_node("ConvTranspose", [*shapes], ["y"], strides=[2], dilations=[3], output_padding=[2])
model = helper.make_model(
    helper.make_graph([node], "g", inputs, [y]), ir_version=10, opset_imports=[helper.make_opsetid("", 18)]
)
onnxruntime.set_default_logger_severity(4)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print(session.run(None, {name: np.zeros(shape, np.float32) for name, shape in shapes.items()})[0].shape)
