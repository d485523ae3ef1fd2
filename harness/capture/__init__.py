"""What a PyTorch program runs, as cases.

Front file: `program.py`, which runs a program; `recorder.py` is the block that records its calls.
"""
