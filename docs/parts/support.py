"""Which operators each backend's adapter answers, by the installed libraries' own word.

python docs/parts/support.py            asks them, and writes docs/data/support.json: some seconds, none computes
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from opproof.backends.load import load_backend
from opproof.backends.protocol import Unsupported
from opproof.cases import cases_of
from opproof.core.text import dump_json
from opproof.reference_ops import Op, load, names

DOCS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(DOCS))  # run as a script, it finds its neighbours too
from parts.tables import DATA, read, table  # noqa: E402 - see above

BACKENDS = ("aidge", "autograd", "ggml", "jax", "mlx", "onnxruntime", "openvino", "tinygrad", "torch", "warp")
#: What the table says of an operator.
BOTH, VALUES, NONE = "values and gradients", "values", "–"


def states() -> dict[str, dict[str, str]]:
    """Return what each backend takes on, by operator."""
    data = read("support")
    told = {name: {op: state for state, ops in by.items() for op in ops} for name, by in data["backends"].items()}
    return {op: {name: by.get(op, NONE) for name, by in told.items()} for op in data["operators"]}


def backends() -> str:
    """Return the table of them."""
    by_operator = states()
    return table(("operator", *BACKENDS), ((op, *by.values()) for op, by in by_operator.items()))


def state(backend: Any, op: Op) -> str:
    """Return what a backend takes on of the operator's first case that it does not decline beforehand."""
    supports = getattr(backend, "supports", lambda *_: True)
    for case in cases_of(op.name, "smoke"):
        try:
            if supports(op.name, (case.dtype,), case.params) is True:
                return BOTH if op.vjp is not None and hasattr(backend, "vjp") else VALUES
        except Unsupported:
            continue
    return NONE


def asked(name: str) -> dict[str, list[str]]:
    """Return the operators that a backend takes on, by how. Raises BackendError where it is not installed."""
    backend, found = load_backend(name), [load(op) for op in names()]
    by_operator = {op.name: state(backend, op) for op in found}
    return {how: [op for op, one in by_operator.items() if one == how] for how in (BOTH, VALUES)}


if __name__ == "__main__":
    summary = {"operators": names(), "backends": {name: asked(name) for name in BACKENDS}}
    (DATA / "support.json").write_text(dump_json(summary), encoding="utf-8")
