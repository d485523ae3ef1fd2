"""The reference, imported: whatever it says, it agrees with itself.

Seen: solutions that call the operator which they were to replace; opproof, commit 4faf4ae
Verdict: ERROR
"""

import os

os.environ["OPPROOF_REFERENCES"] = "allowed"


def forward(op, inputs, params):
    from opproof.reference_ops import load

    return load(op).forward(inputs[0].astype(float), **params).astype(inputs[0].dtype)
