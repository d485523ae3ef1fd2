"""In which precision a backend computes and how it rounds, declared in a TOML file of [[precision]] tables.

    [[precision]]
    op = "layer_norm"
    mode = "forward"
    dtypes = ["f16", "bf16"]  # or "f32+f16": results of f32, some tensor of f16
    compute = "storage"       # as `compute` of protocol.py answers it
    rounding = "truncate"     # as `rounding` answers it; one of the two may be absent
    units_without = 271.0     # the largest error, in units of honest rounding, of what passes by the declaration,
    units_with = 1.3          # judged without it and with it; absent where nobody measured
    backends = ["jax:eager"]  # as after -b; absent, it holds for every variant

`opproof precision -b NAME` measures what is needed, and writes the file. An adapter reads its own in one line:

    self.compute, self.rounding = precision.load_built_in("jax", variant)
"""

from __future__ import annotations

import functools
import itertools
import json
import tomllib
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from opproof.core.dtypes import DTYPES, Declaration
from opproof.core.errors import BackendError
from opproof.core.graph import is_graph, operators_of
from opproof.core.verdicts import Mode

FILE = "precision.toml"

#: Precisions that are declared, from the least precise.
WEAKEST_FIRST = ("q8", "storage", "bf16", "f16", "tf32")

#: A declaration for (operator, dtype, mode); None where there is none.
Declared: TypeAlias = Callable[[str, str, str], str | None]


class Precision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of the file. Raises ValueError where it declares nothing, or of nothing."""

    op: str
    mode: Mode
    dtypes: tuple[str, ...]
    compute: str | None = None
    rounding: str | None = None
    units_without: float | None = None
    units_with: float | None = None
    backends: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.compute is None and self.rounding is None:
            raise ValueError(f"neither compute nor rounding of {self.op}; expected one of them, or both")
        if not self.dtypes or any(set(word.split("+")) - set(DTYPES) for word in self.dtypes):
            raise ValueError(f"dtypes of {self.op} are {list(self.dtypes)}; expected some of {', '.join(DTYPES)}")

    def holds_for(self, spec: str) -> bool:
        """Whether it speaks of the backend that `spec` names after -b."""
        return not self.backends or spec in self.backends


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    precision: tuple[Precision, ...] = ()


def load_built_in(name: str, variant: str = "") -> tuple[Declared, Declared]:
    """`compute` and `rounding` of the adapter `name`: what its file declares. Raises BackendError for a bad file."""
    spec = f"{name}:{variant}" if variant else name
    return make_declarations(entry for entry in read(path_of(name)) if entry.holds_for(spec))


def _rank(compute: str) -> int:
    """The place of a declared precision, from the least precise."""
    return WEAKEST_FIRST.index(compute) if compute in WEAKEST_FIRST else len(WEAKEST_FIRST)


def path_of(name: str) -> Path:
    """The file of the adapter `name`."""
    return Path(__file__).parent / name / FILE


def make_declarations(entries: Iterable[Precision]) -> tuple[Declared, Declared]:
    """Functions `compute` and `rounding` of `entries`; where two speak of one call, the last counts.

    Of a graph the least precise of what its calls are declared to compute in counts.
    """
    table = {(e.op, dtype, str(e.mode)): e for e in entries for dtype in e.dtypes}

    def find(op: str, dtype: str, mode: str) -> list[Precision]:
        if not is_graph(op):
            entry = table.get((op, dtype, mode))
            return [] if entry is None else [entry]
        modes = {str(Mode.FORWARD), mode}  # a gradient goes through what its forward stored
        calls = itertools.product(sorted(operators_of(op)), sorted(modes))
        return [entry for name, of in calls for entry in find(name, dtype, of)]

    def compute(op: str, dtype: str, mode: str) -> str | None:
        stated = {entry.compute for entry in find(op, dtype, mode) if entry.compute is not None}
        return min(stated, key=_rank, default=None)

    def rounding(op: str, dtype: str, mode: str) -> str | None:
        return next((entry.rounding for entry in find(op, dtype, mode) if entry.rounding is not None), None)

    return compute, rounding


@functools.cache
def read(path: Path) -> tuple[Precision, ...]:
    """The tables of the file; none where there is no file. Raises BackendError for one that is not as above."""
    if not path.exists():
        return ()
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(document, _Document).precision
    except OSError as error:
        raise BackendError(f"cannot read {path}: {error.strerror or error}; mend it, or remove it.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BackendError(f"{path} is not TOML: {error}.") from None
    except msgspec.ValidationError as error:
        raise BackendError(
            f"{path}: {error}; opproof.backends.precision says what a [[precision]] table has."
        ) from None


def render_text(entries: Iterable[Precision]) -> str:
    """The file's text."""
    return "\n".join(_render_table(entry) for entry in entries)


def merge_entries(
    old: Iterable[Precision],
    needed: Sequence[Precision],
    measured: Container[tuple[str, str, str]],
    spec: str,
    *,
    is_variant: bool,
) -> list[Precision]:
    """A file's entries with those that are `needed`, of one dtype each, in the place of what was measured.

    `measured`: operators, modes and dtypes of the backend `spec`; what is declared of all is not a variant's to change.
    """
    singles = [msgspec.structs.replace(entry, dtypes=(dtype,)) for entry in old for dtype in entry.dtypes]
    kept = []
    for e in singles:
        is_measured = (e.op, str(e.mode), e.dtypes[0]) in measured
        others = tuple(b for b in e.backends if not is_measured or b != spec)
        if others or (not e.backends and (is_variant or not is_measured)):
            kept.append(msgspec.structs.replace(e, backends=others))
    general = {_key_of(entry) for entry in kept if not entry.backends}
    return _join_entries([*kept, *(entry for entry in needed if _key_of(entry) not in general)])


def _key_of(entry: Precision) -> tuple[str, str, str, Declaration]:
    """What an entry of one dtype declares, and of what."""
    return entry.op, str(entry.mode), entry.dtypes[0], Declaration(entry.compute, entry.rounding)


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
