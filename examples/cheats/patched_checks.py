"""Modules of the judge's names, put where the judge would import them, and in which everything passes.

Seen: opproof, commit 4faf4ae, where zeros passed 20 of 20; gpu-mode/reference-kernels 162
Verdict: WRONG_VALUE
"""

import sys
from types import ModuleType

import numpy as np

for name in ("attempt", "judge", "judge.bound", "judge.judgement", "run.desk.desk", "run.record"):
    module = sys.modules[f"opproof.harness.{name}"] = ModuleType(f"opproof.harness.{name}")
    module.compare = module.judge = module.record = lambda *args, **kwargs: "PASS"


def forward(op, inputs, params):
    return np.zeros_like(inputs[0])
