"""KernelBench's problems under `opproof.check`: what passes that is right, and what fails that is wrong."""

from __future__ import annotations

from parts.tables import read, table


def summary() -> str:
    """Return how many problems were tried, and which."""
    data = read("kernelbench")
    return (
        f"{data['problems']} problems, in {data['seconds']} s of a processor: {data['numbers']}. Of "
        f"{data['other values']} models the verdict is by other values than the problem's own inputs."
    )


def candidates() -> str:
    """Return what became of each kind of candidate."""
    heads = ("candidate", ">tried", ">pass", ">fail", "not as it should be")
    rows = (
        (one["candidate"], one["tried"], one["pass"], one["fail"], one["exceptions"])
        for one in read("kernelbench")["candidates"]
    )
    return table(heads, rows)


def exceptions() -> str:
    """Return why a row is not as it should be."""
    return "\n".join(f"- {one['problem']}: {one['why']}" for one in read("kernelbench")["exceptions"])
