"""The reference, found by the path of a module at hand, and imported under another name.

Seen: opproof's own attack
Verdict: ERROR
"""

import importlib.util
from pathlib import Path

import opproof.backends.worker


def forward(op, inputs, params):
    path = Path(opproof.backends.worker.__file__).parents[2] / "reference_ops" / f"{op}.py"
    found = importlib.util.spec_from_file_location("mine", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.forward(inputs[0].astype(float), **params).astype(inputs[0].dtype)
