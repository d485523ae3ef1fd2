"""Models of one ONNX operator, for the runtimes that run them."""
