"""Operators of ONNX by ours: what a node of a model computes, as calls of the references. See table.py."""
