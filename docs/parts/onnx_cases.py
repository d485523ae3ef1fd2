"""ONNX's node cases on the NumPy references: what agrees, what differs, what is not run."""

from __future__ import annotations

from parts.tables import read, table


def summary() -> str:
    """Return the counts."""
    data = read("onnx")
    agree, differ = sum(one["cases"] for one in data["agree"]), len(data["differ"])
    rows = [
        (f"in onnx {data['version']}", data["cases"]),
        ("run on our references", agree + differ),
        ("agree", agree),
        ("differ, each explained below", differ),
        ("not run", sum(one["cases"] for one in data["not run"])),
        ("operators of ours that take part", data["operators"]),
    ]
    return table(("node cases", ">"), rows)


def differs() -> str:
    """Return what differs, and why."""
    rows = ((f"`{one['case']}`", one["seen"], one["because"]) for one in read("onnx")["differ"])
    return table(("case", "seen", "because"), rows)


def agrees() -> str:
    """Return what agrees, by ONNX's operator."""
    rows = (
        (one["node"], ", ".join(f"`{op}`" for op in one["operators"]), one["cases"]) for one in read("onnx")["agree"]
    )
    return table(("ONNX", "our operators", ">cases"), rows)


def left() -> str:
    """Return what is not run, by its reason."""
    rows = ((one["reason"], one["cases"], one["nodes"]) for one in read("onnx")["not run"])
    return table(("reason", ">cases", "ONNX"), rows)
