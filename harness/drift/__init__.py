"""A captured model on a backend: each call judged by its own inputs, then what the whole makes of their errors.

Front file: `follow.py`.
"""
