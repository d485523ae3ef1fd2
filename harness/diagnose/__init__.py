"""What pattern the error of an answer has: a factor, an axis, lost digits, another input.

Front files: `diagnosis.py` explains an answer, `wrong.py` holds what is explained, `precision.py` tells lower
precision.
"""
