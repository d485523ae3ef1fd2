"""The records as the HTML page carries them: JSON by columns, each distinct text once.

20,000 records take some 3 MB so, a third of their JSON lines, and one JSON.parse in the browser. Kinds, their order and
what changed since a baseline are here as every rendering has them: the page's script only shows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from opproof.core.text import plain, visible
from opproof.core.verdicts import MEANING
from opproof.reports._kinds import ALLOWED, KINDS, LABELS, kind, worst_first
from opproof.reports._record import Header, Result
from opproof.reports._summary import failures
from opproof.reports._text import plural, short_names
from opproof.reports.advice import sound
from opproof.reports.causes import causes
from opproof.reports.changes.record import TITLES, WORSE, Change, Changes
from opproof.reports.changes.text import sentence
from opproof.reports.html.pictures import pictured
from opproof.reports.support import STATES, matrix, sentences

_DTYPES = ("f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "i32", "i16", "i8", "u8")
# Stands for the case id inside the texts that repeat it (the repro line always does), so that these become few.
_CASE = "\x01"
_NOTHING = 0

_ROOM = 1_600_000  # characters of messages: thousands of distinct stack traces must not make the page too large
# Characters that what failures looked like may fill the page up to, and what is theirs in any case.
_PAGE = 5_200_000
_LEAST = 400_000


class _Texts:
    """Distinct texts in the order in which they were first met."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.index = {text: i for i, text in enumerate(texts)}
        self.length = 0

    def add(self, text: str) -> int:
        if text not in self.index:
            self.length += len(text)
        return self.index.setdefault(text, len(self.index))

    def add_message(self, text: str) -> int:
        """Add a text that may be left out where there are too many."""
        long = self.length > _ROOM and len(text) > 80
        return self.add("(left out of this page, which has too many such texts: see results.jsonl)" if long else text)

    @property
    def shown(self) -> list[str]:
        """The texts, of names that nothing here has looked at."""
        return list(map(visible, self.index))


def encode(
    header: Header,
    results: Sequence[Result],
    docs: Mapping[str, str],
    scripts: Mapping[str, str],
    changes: Changes | None,
) -> str:
    """JSON that may stand in a script element: it holds no `<`."""
    results = sound(results)
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    strings, cases = _Texts([""]), _Texts()  # the empty text is _NOTHING
    ops = _Texts(sorted({r.op for r in results}))
    dtypes = _Texts(sorted({r.dtype for r in results}, key=_dtype_order))
    modes = _Texts(sorted({r.mode for r in results}))
    backends = _Texts(dict.fromkeys(r.backend for r in results))
    verdicts = _Texts(MEANING)
    for r in results:
        columns["case"].append(cases.add(r.case))
        columns["op"].append(ops.add(r.op))
        columns["dtype"].append(dtypes.add(r.dtype))
        columns["mode"].append(modes.add(r.mode))
        columns["backend"].append(backends.add(r.backend))
        columns["verdict"].append(verdicts.add(r.verdict))
        columns["kind"].append(_KIND[kind(r)])
        columns["units"].append(_units(r.units))
        for name in ("limit", "rms", "bias"):
            columns[name].append(_units(getattr(r, name)))
        columns["nonfinite"].append(r.nonfinite)
        columns["declared"].append(strings.add(visible(r.declared)))
        columns["rounding"].append(strings.add(visible(r.rounding)))
        columns["seconds"].append(_units(r.seconds))
        columns["judging"].append(_units(r.judging))
        columns["repro"].append(strings.add(_folded(visible(r.repro), r.case)))
        for name in ("message", "diagnosis", "known"):
            text = getattr(r, name)
            columns[name].append(strings.add_message(_folded(plain(text), r.case)) if text else _NOTHING)
        columns["worst"].append(_worst(r, strings))
    columns["rank"] = _ranks(results)
    before = None if changes is None else _changes(changes, verdicts)
    page = {
        "constant": header.constant or ALLOWED,
        "schema": header.schema,
        "ops": ops.shown,
        "dtypes": dtypes.shown,
        "modes": modes.shown,
        "backends": backends.shown,
        "names": list(map(visible, short_names(backends.index).values())),
        "verdicts": verdicts.shown,
        "meanings": MEANING,
        "kinds": KINDS,
        "labels": [LABELS[k] for k in KINDS],
        "cases": cases.shown,
        "columns": columns,
        "docs": {visible(op): visible(text) for op, text in docs.items() if op in ops.index},
        "scripts": {visible(case): visible(text) for case, text in scripts.items() if case in cases.index},
        "changes": before,
        "causes": _causes(results, strings),
        "support": _support(results),
        "strings": list(strings.index),
    }
    text = _json(page)
    seen = _json(pictured(results, max(_LEAST, _PAGE - len(text))))
    return f'{text[:-1]},"evidence":{seen}}}'.replace("<", "\\u003c")


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


_COLUMNS = tuple(
    "case op dtype mode backend verdict kind units limit rms bias declared rounding nonfinite seconds judging "
    "message diagnosis known repro worst".split()
)
_KIND = {kind: place for place, kind in enumerate(KINDS)}


def _folded(text: str, case: str) -> str:
    return text.replace(case, _CASE)


def _ranks(results: Sequence[Result]) -> list[int]:
    """The place of each record in the order from worst to best."""
    ranks = [0] * len(results)
    for rank, place in enumerate(worst_first(results)):
        ranks[place] = rank
    return ranks


def _worst(r: Result, strings: _Texts) -> list[Any] | int:
    """[tensor, index, got, expected, bound], or 0 where there is none."""
    if r.worst is None:
        return 0
    w = r.worst
    index = ", ".join(map(str, w.index))
    return [strings.add(visible(w.tensor)), index, _finite(w.got), _finite(w.expected), _finite(w.bound)]


def _finite(value: float | str) -> float | str:
    # JSON has neither nan nor inf
    return value if isinstance(value, str) or math.isfinite(value) else str(value)


def _units(value: float | str | None) -> float | str | None:
    # Three digits are all that an error estimate holds
    return _finite(float(f"{value:.4g}")) if isinstance(value, float | int) else value


def _dtype_order(name: str) -> tuple[int, str]:
    return (_DTYPES.index(name) if name in _DTYPES else len(_DTYPES), name)


def _causes(results: Sequence[Result], strings: _Texts) -> list[list[Any]]:
    """[why, the places of its records] of each cause, in the order of all renderings."""
    places = {id(r): place for place, r in enumerate(results)}
    return [
        [strings.add_message(_folded(plain(c.explanation), c.smallest.case)), [places[id(r)] for r in c.records]]
        for c in causes(failures(results))
    ]


def _support(results: Sequence[Result]) -> dict[str, Any]:
    """The support matrix: sentences, and by operator a list [values, gradients, dtypes] for each backend."""
    cells = matrix(results)
    rows = {
        visible(op): [[c.value, c.gradient, visible(" ".join(c.dtypes))] for c in row.values()]
        for op, row in cells.items()
    }
    return {"sentences": sentences(cells), "rows": rows, "states": [STATES[k] for k in KINDS]}


def _changes(changes: Changes, verdicts: _Texts) -> dict[str, Any]:
    """The change of each record, its verdict (-1 where it is new) and figures in the baseline; what to say of all."""
    names = list(TITLES)
    places = {change: place for place, change in enumerate(names)}
    before = [c.before for c in changes.records]
    sizes = [f"{plural(len(changes.vanished), 'record')} of the baseline did not run now"] * bool(changes.vanished)
    return {
        "names": names,
        "titles": [TITLES[c] for c in names],
        "counts": [len(changes.of(c)) for c in names],
        "worse": [c in WORSE for c in names],
        "same": places[Change.SAME],
        "sentence": sentence(changes),
        "notes": [*[changes.conditions] * bool(changes.conditions), *changes.notes, *sizes],
        "change": [places[c.change] for c in changes.records],
        "verdict": [-1 if r is None else verdicts.add(r.verdict) for r in before],
        **{
            name: [None if r is None else _units(getattr(r, name)) for r in before]
            for name in ("units", "limit", "rms", "bias")
        },
    }
