"""The operators of ONNX models as ours."""
