"""precision.toml after a measurement: what is needed stands in the place of what was declared of the same records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from opproof.backends.precision import Precision
from opproof.core.dtypes import DTYPES, Declaration
from opproof.core.verdicts import Mode
from opproof.harness.precision.measure import PrecisionRow


@dataclass(frozen=True)
class Measurement:
    """All that was measured of one backend."""

    spec: str  # as after -b
    rows: Sequence[PrecisionRow]

    @property
    def is_variant(self) -> bool:
        """Whether the default is another backend, whose declarations are not this one's to change."""
        return ":" in self.spec and not self.spec.startswith("exec:")


def merge_measured(old: Iterable[Precision], measured: Measurement) -> list[Precision]:
    """The declarations of a file with those of `measured` brought up to date; what was not measured stays."""
    kept = [part for entry in old for single in _split_dtypes(entry) for part in _subtract_measured(single, measured)]
    general = {_key_of(entry) for entry in kept if not entry.backends}
    needed = [_make_entry(row, measured) for row in measured.rows if row.needed]
    return _join_entries([*kept, *(entry for entry in needed if _key_of(entry) not in general)])


def render_text(entries: Iterable[Precision]) -> str:
    """The file's text."""
    return "\n".join(_render_table(entry) for entry in entries)


def _split_dtypes(entry: Precision) -> list[Precision]:
    return [msgspec.structs.replace(entry, dtypes=(dtype,)) for dtype in entry.dtypes]


def _key_of(entry: Precision) -> tuple[str, str, str, Declaration]:
    """What an entry of one dtype declares, and of what."""
    return entry.op, str(entry.mode), entry.dtypes[0], Declaration(entry.compute, entry.rounding)


def _subtract_measured(entry: Precision, measured: Measurement) -> list[Precision]:
    """What is left of an entry of one dtype when what was measured is taken away."""
    if not any((r.op, r.mode, r.dtype) == (entry.op, entry.mode, entry.dtypes[0]) for r in measured.rows):
        return [entry]
    if not entry.backends:
        return [entry] if measured.is_variant else []
    others = tuple(b for b in entry.backends if b != measured.spec)
    return [msgspec.structs.replace(entry, backends=others)] if others else []


def _make_entry(row: PrecisionRow, measured: Measurement) -> Precision:
    return Precision(
        op=row.op,
        mode=Mode(row.mode),
        dtypes=(row.dtype,),
        compute=row.needed.compute,
        rounding=row.needed.rounding,
        units_without=row.units_without,
        units_with=row.units_with,
        backends=(measured.spec,) if measured.is_variant else (),
    )


def _join_entries(singles: Sequence[Precision]) -> list[Precision]:
    """Entries that differ in dtypes and units alone, as one; in the order of operators."""
    groups: dict[tuple[object, ...], list[Precision]] = {}
    for e in singles:
        groups.setdefault((e.op, str(e.mode), e.backends, e.compute or "", e.rounding or ""), []).append(e)
    return [_merge_group(groups[key]) for key in sorted(groups)]


def _merge_group(group: Sequence[Precision]) -> Precision:
    dtypes = {e.dtypes[0] for e in group}
    return msgspec.structs.replace(
        group[0],
        dtypes=(*(d for d in DTYPES if d in dtypes), *sorted(dtypes.difference(DTYPES))),
        units_without=_largest_of(e.units_without for e in group),
        units_with=_largest_of(e.units_with for e in group),
    )


def _largest_of(units: Iterable[float | None]) -> float | None:
    return max((u for u in units if u is not None), default=None)


def _render_table(entry: Precision) -> str:
    fields = {
        "op": json.dumps(entry.op),
        "mode": json.dumps(str(entry.mode)),
        "dtypes": json.dumps(list(entry.dtypes)),
        "compute": entry.compute and json.dumps(entry.compute),
        "rounding": entry.rounding and json.dumps(entry.rounding),
        "units_without": None if entry.units_without is None else _number(entry.units_without),
        "units_with": None if entry.units_with is None else _number(entry.units_with),
        "backends": json.dumps(list(entry.backends)) if entry.backends else None,
    }
    lines = [f"{key} = {value}" for key, value in fields.items() if value is not None]
    return "\n".join(["[[precision]]", *lines, ""])


def _number(units: float) -> str:
    """Three digits, as a TOML float: inf too."""
    return repr(float(f"{units:.3g}"))
