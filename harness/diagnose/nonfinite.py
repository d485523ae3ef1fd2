"""NaN and infinities: which change of the call makes them everywhere, which intermediate value overflows."""

from __future__ import annotations

import numpy as np

from opproof.cases._case import format_param
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose import parameters, positions
from opproof.harness.diagnose.regions import list_float_inputs
from opproof.harness.diagnose.where import iter_keys
from opproof.harness.diagnose.wrong import MAX_EVALUATED_ELEMENTS, WrongTensor
from opproof.reference_ops import Trait

#: Elements from which on it says more than that large numbers overflow.
_MIN_NAN_ELEMENTS = 5


def explain_nan(w: WrongTensor) -> tuple[str, str] | None:
    """The one change that would make several elements NaN, with its label."""
    found = find_nan_everywhere(w) if w.got.size >= _MIN_NAN_ELEMENTS else None
    return None if found is None or found[0] == "constant" else found


def find_nan_everywhere(w: WrongTensor) -> tuple[str, str] | None:
    """The change that would make it, with its label; both where there are two."""
    if w.expected.dtype.kind != "f" or not np.isnan(w.got).all() or not np.isfinite(w.expected).all():
        return None
    found = [f for f in (_find_parameter(w), _find_layout(w)) if f is not None]
    if found:
        labels, changes = zip(*found, strict=True)
        return " or ".join(labels), f"{w.what} is NaN everywhere, as it is {', or '.join(changes)}"
    return ("constant", f"{w.what} is NaN everywhere") if w.got.size > 1 else None


def _find_parameter(w: WrongTensor) -> tuple[str, str] | None:
    """A parameter that has its default, or an eps that is 0."""
    for name, now in w.params.items():
        for value, why in parameters.iter_replacements(w.op.params[name], now):
            if (
                (why or name == "eps")
                and not parameters.is_same(value, now)
                and _is_nan(w.again(params={**w.params, name: value}))
            ):
                return "parameter ignored", f"with {name}={format_param(value)}{why} for {name}={format_param(now)}"
    return None


def _find_layout(w: WrongTensor) -> tuple[str, str] | None:
    """What lies around the elements is NaN."""
    for label, change, what, verb in (
        ("offset ignored", positions.from_the_beginning, "storage offset", "is"),
        ("stride ignored", positions.make_contiguous, "strides", "are"),
    ):
        for group, inputs in positions.iter_misreadings(w, change):
            if _is_nan(w.again(inputs=inputs)):
                return label, f"if the {what} of {' and '.join(group)} {verb} ignored"
    return None


def _is_nan(y: np.ndarray | None) -> bool:
    return y is not None and bool(np.isnan(y).all())


#: No exponential of a smaller number overflows, not even in f16.
_MIN_OVERFLOWING_EXPONENT = 11.0


def find_large_inputs(w: WrongTensor) -> str | None:
    """NaN or infinity, where finite values are expected and inputs are large."""
    if w.expected.dtype.kind != "f":
        return None
    bad = w.failing & ~np.isfinite(w.got) & np.isfinite(w.expected)
    if not bad.any() or not (bad | (w.got == 0))[w.failing].all():
        return None
    for name, v in list_float_inputs(w):
        if not np.isfinite(v).all() or np.abs(v).max(initial=0) < _MIN_OVERFLOWING_EXPONENT:
            continue
        for said, key in ((f"|{name}|", np.abs(v)), (name, v)):
            for over, axis in iter_keys(w, key):
                least, right = float(over[bad].min()), float(over[~w.failing].max(initial=-np.inf))
                if least >= _MIN_OVERFLOWING_EXPONENT and (least >= right or w.failing.all()):
                    rows = "" if axis is None else "in rows "
                    return (
                        f"{w.what} is NaN or infinite {rows}where {said} ≥ {least:.4g}: an intermediate value overflows"
                    )
    return None


def find_overflowing_exponentials(w: WrongTensor) -> str | None:
    """Rows whose largest number has no exponential in the range of a dtype: what follows is NaN, or has lost digits.

    Where every element has an input of its own, rows are no matter.
    """
    if w.expected.dtype.kind != "f" or w.got.size > MAX_EVALUATED_ELEMENTS or Trait.POINTWISE in w.op.traits:
        return None
    bad = w.failing & ~np.isfinite(w.got) & np.isfinite(w.expected)
    for name in dict.fromkeys(("f32", w.dtype)):
        kind = DTYPES[name]
        most, least = np.log(kind.max), np.log(kind.tiny)
        for input_name, v in list_float_inputs(w):
            for largest, axis in iter_keys(w, v):
                over, under = largest >= most, largest <= least
                outside = over | under
                if axis is None or not (over & bad).any() or not outside[w.failing].all():
                    continue
                if (bad | (w.got == 0))[over].all():
                    return (
                        f"{w.what} is wrong in rows whose largest {input_name} is ≥ {most:.3g} or ≤ {least:.3g} alone, "
                        f"where exp leaves the range of {name}: as if the row's maximum were not subtracted"
                    )
    return None
