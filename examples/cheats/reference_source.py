"""The reference's source, read and executed, after the check that forbids it was put out of action.

Seen: opproof's own attack
Verdict: ERROR
"""

import builtins
import os
from pathlib import Path

import opproof.backends.worker
from opproof.backends.worker.sandbox import import_guard

import_guard._hook = import_guard._refuse_open = lambda *args: None
import_guard._references = frozenset()
os.stat = os.path.realpath = builtins.str.upper


def forward(op, inputs, params):
    scope = {}
    exec(open(Path(opproof.backends.worker.__file__).parents[2] / "reference_ops" / f"{op}.py").read(), scope)
    return scope["forward"](inputs[0].astype(float), **params).astype(inputs[0].dtype)
