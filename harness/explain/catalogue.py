"""What is known of every built-in operator, as plain data: what `opproof list ops --json` prints."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from opproof.cases import Case, cases_of
from opproof.cases._case import format_param
from opproof.harness.reference.data import parameters
from opproof.reference_ops import Op, load, names
from opproof.reference_ops._elsewhere import equivalents, names_by_operator


def facts_of_operators() -> list[dict[str, Any]]:
    """One record for each built-in operator, by name.

    `names` holds by library or list what the operator is called there, `said` the sentences of its docstring that the
    first three come from, with the conditions. A value of a parameter is written as in an id of a case.
    """
    ops = [load(name) for name in names()]
    elsewhere = names_by_operator(ops)
    return [_facts(op, elsewhere[op.name]) for op in ops]


def _facts(op: Op, elsewhere: Mapping[str, list[str]]) -> dict[str, Any]:
    cases = cases_of(op.name)
    return {
        "op": op.name,
        "summary": " ".join(op.doc.split("\n\n", 1)[0].partition(": ")[2].split()),
        "gradient": op.vjp is not None,
        "tensors": [{"name": name, "optional": name in op.optional} for name in op.tensors],
        "variadic": op.variadic,
        "outputs": list(op.outputs),
        "dtypes": list(op.dtypes),
        "traits": sorted(op.traits),
        "parameters": {name: _parameter(op, name, default, cases) for name, default in op.params.items()},
        "names": dict(elsewhere),
        "said": equivalents(op.doc),
        "cases": len(cases),
    }


def _parameter(op: Op, name: str, default: Any, cases: Iterable[Case]) -> dict[str, Any]:
    """Its default, None where it has none, and its levels: the values that cases of standard level give it."""
    levels = dict.fromkeys(format_param(parameters(case, op)[name]) for case in cases)
    needed = default is inspect.Parameter.empty
    return {"default": None if needed else format_param(default), "levels": list(levels)}
