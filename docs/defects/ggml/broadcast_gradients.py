"""The gradients of ggml_sub and ggml_div to a repeated second input are not summed: the process aborts

ggml_add and ggml_mul sum theirs.

Ledger: div gradient, sub gradient
Expected:
    add [3.0]
    sub [-3.0]
    div [-3.0]
"""

from preamble import ggml, gradients, outcome, parameter


def of(name):
    a, b = parameter([[1.0], [1.0], [1.0]]), parameter([[1.0]])
    return gradients(ggml(name, a, b), [[1.0], [1.0], [1.0]], b)[0].tolist()


for name in ("add", "sub", "div"):
    print(name, outcome(lambda name=name: of(name)))
