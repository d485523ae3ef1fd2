"""The gradient of the second input of ggml_add1 is the mean of the cotangent, not its sum

For a matrix its rows' means come, which fail the check of shapes: the process aborts.

Ledger: add1 gradient
Expected:
    vector [6.0]
    matrix [6.0]
"""

from preamble import ggml, gradients, outcome, parameter


def of(a, cotangent):
    a, b = parameter(a), parameter([1.0])
    return gradients(ggml("add1", a, b), cotangent, b)[0].tolist()


print("vector", of([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))
print("matrix", outcome(lambda: of([[1.0], [1.0], [1.0]], [[1.0], [2.0], [3.0]])))
