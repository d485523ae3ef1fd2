"""NaN everywhere: no number tells what it comes from, but few changes of the call make it."""

from __future__ import annotations

import numpy as np

from opproof.cases._case import format_param
from opproof.harness.diagnose import moved, params
from opproof.harness.diagnose.wrong import Wrong

#: Elements from which on it says more than that large numbers overflow.
_SEVERAL = 5


def explained(w: Wrong) -> tuple[str, str] | None:
    """The one change that would make several elements NaN, with its label."""
    found = everywhere(w) if w.got.size >= _SEVERAL else None
    return None if found is None or found[0] == "constant" else found


def everywhere(w: Wrong) -> tuple[str, str] | None:
    """The change that would make it, with its label; both where there are two."""
    if w.expected.dtype.kind != "f" or not np.isnan(w.got).all() or not np.isfinite(w.expected).all():
        return None
    found = [f for f in (_parameter(w), _layout(w)) if f is not None]
    if found:
        labels, changes = zip(*found, strict=True)
        return " or ".join(labels), f"{w.what} is NaN everywhere, as it is {', or '.join(changes)}"
    return ("constant", f"{w.what} is NaN everywhere") if w.got.size > 1 else None


def _parameter(w: Wrong) -> tuple[str, str] | None:
    """A parameter that has its default, or an eps that is 0."""
    for name, now in w.params.items():
        for value, why in params.without(w.op.params[name], now):
            if (
                (why or name == "eps")
                and not params.same(value, now)
                and _nan(w.again(params={**w.params, name: value}))
            ):
                return "parameter ignored", f"with {name}={format_param(value)}{why} for {name}={format_param(now)}"
    return None


def _layout(w: Wrong) -> tuple[str, str] | None:
    """What lies around the elements is NaN."""
    for label, change, what, verb in (
        ("offset ignored", moved.from_the_beginning, "storage offset", "is"),
        ("stride ignored", moved.contiguous, "strides", "are"),
    ):
        for group, inputs in moved.misreadings(w, change):
            if _nan(w.again(inputs=inputs)):
                return label, f"if the {what} of {' and '.join(group)} {verb} ignored"
    return None


def _nan(y: np.ndarray | None) -> bool:
    return y is not None and bool(np.isnan(y).all())
