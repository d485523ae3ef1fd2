"""Another backend, which is made of the references.

Seen: solutions that call the operator which they were to replace
Verdict: ERROR
"""


def forward(op, inputs, params):
    from opproof.backends.numpy import NumPy

    return NumPy().forward(op, inputs, params)
