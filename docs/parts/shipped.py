"""Bugs that projects shipped: which of them the standard level finds."""

from __future__ import annotations

from typing import Any

from parts.tables import read, table


def summary() -> str:
    """Return how many are found, missed and not asked."""
    data = read("shipped")
    found, missed, apart = data["found"], data["missed"], data["not_asked"]
    projects = {"/".join(bug["thread"].split("/")[:2]) for bug in (*found, *apart)}
    since = sum(bug["since"] for bug in found)
    return (
        f"{len(found) + len(apart)} bugs of operators come from threads of {len(projects)} repositories; all but "
        f"{data['listed_later']} were listed before any was asked. {len(found)} can be expressed as a backend that is "
        f"right in all else. The standard level at seed 0 finds {len(found) - len(missed)} of them, {since} only since "
        f"rows for their classes were added, and misses {len(missed)}. {len(apart)} cannot be shown."
    )


def bugs() -> str:
    """Return what was asked, and what came of it."""
    heads = ("operator", "what it did instead", "where", "found", "diagnosis", "thread")
    return table(heads, (_asked(bug) for bug in read("shipped")["found"]))


def missed() -> str:
    """Return what passes, and why."""
    return _told("missed", "why it passes")


def not_asked() -> str:
    """Return what no case can show, and what is missing."""
    return _told("not_asked", "what is missing")


def _asked(bug: dict[str, Any]) -> tuple[str, ...]:
    verdicts = ", ".join(f"{name} {n}" for name, n in bug["verdicts"].items()) or "**missed**"
    since = ", since rows were added" if bug["since"] else ""
    where = "gradient, " * (bug["mode"] == "gradient") + " ".join(bug["dtypes"])
    said = f"{verdicts} of {bug['asked']}{since}"
    return bug["operator"], bug["what"], where, said, bug["diagnosis"], _link(bug["thread"])


def _told(kind: str, head: str) -> str:
    rows = ((bug["operator"], bug["what"], bug["why"], _link(bug["thread"])) for bug in read("shipped")[kind])
    return table(("operator", "what it did instead", head, "thread"), rows)


def _link(thread: str) -> str:
    _, name, _, number = thread.split("/")
    return f"[{name} {number}](https://github.com/{thread})"
