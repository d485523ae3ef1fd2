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


def graphs() -> str:
    """Return how many cases of several nodes are graphs, and what backends answer to these."""
    data = read("onnx-graphs")
    counts = [
        (f"of several nodes in onnx {data['version']}", data["cases"]),
        ("graphs of opproof", data["graphs"]),
        ("whose reference has ONNX's values", data["agree"]),
    ]
    words = ("PASS", "WRONG_VALUE", "UNSUPPORTED", "VACUOUS")
    rows = [
        (f"{one['backend']} {one['version']}", *(one["verdicts"].get(word, 0) for word in words))
        for one in data["backends"]
    ]
    wrong = [
        (one["backend"], f"`{other['case']}`", other["because"]) for one in data["backends"] for other in one["others"]
    ]
    heads = ("backend", ">pass", ">wrong", ">declined", ">no evidence")
    parts = [table(("node cases", ">"), counts), table(heads, rows), table(("backend", "case", "because"), wrong)]
    return "\n\n".join(parts)


def not_graphs() -> str:
    """Return why the others are no graphs."""
    rows = (
        (one["reason"], one["cases"], ", ".join(f"`{name}`" for name in one["examples"]))
        for one in read("onnx-graphs")["not graphs"]
    )
    return table(("reason", ">cases", "such as"), rows)
