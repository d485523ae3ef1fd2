"""What a PyTorch program runs, as cases.

Front files: `program.py` runs a program, `recorder.py` is the block that records its calls.
"""
