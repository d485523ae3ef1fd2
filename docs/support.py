"""Writes docs/support.md: which operators each backend's adapter answers, by the installed libraries' own word.

python docs/support.py            some seconds: every library is loaded, none computes
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from opproof.backends.load import load_backend
from opproof.backends.protocol import Unsupported
from opproof.cases import cases_of
from opproof.reference_ops import Op, load, names

DOCS = Path(__file__).parent
BACKENDS = ("aidge", "autograd", "ggml", "jax", "mlx", "onnxruntime", "openvino", "tinygrad", "torch", "warp")
#: What the page says of an operator.
BOTH, VALUES, NONE = "values and gradients", "values", "–"


def state(backend: Any, op: Op) -> str:
    """What a backend takes on of the operator's first case that it does not decline beforehand."""
    supports = getattr(backend, "supports", lambda *_: True)
    for case in cases_of(op.name, "smoke"):
        try:
            if supports(op.name, (case.dtype,), case.params) is True:
                return BOTH if op.vjp is not None and hasattr(backend, "vjp") else VALUES
        except Unsupported:
            continue
    return NONE


def page() -> str:
    """The table, with every backend that is installed. Raises BackendError where one is not."""
    loaded = {name: load_backend(name) for name in BACKENDS}
    lines = [
        "# Support",
        "",
        "Written by `docs/support.py`; do not edit. What each backend's adapter takes on, before a case is run. A",
        "library may decline cases, dtypes or gradients all the same: `opproof support -b NAME` finds them by running.",
        "oneDNN's shim tells case by case only, and is left out.",
        "",
        "| operator | " + " | ".join(BACKENDS) + " |",
        "| --- |" + " --- |" * len(BACKENDS),
    ]
    for name in names():
        op = load(name)
        lines.append(f"| {name} | " + " | ".join(state(b, op) for b in loaded.values()) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (DOCS / "support.md").write_text(page(), encoding="utf-8")
    sys.exit(0)
