"""The records as the HTML page carries them: JSON by columns, each distinct text once.

20,000 records take some 3 MB so, a third of their JSON lines, and one JSON.parse in the browser. Kinds, their order and
what changed since a baseline are here as every rendering has them: the page's script only shows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from opproof.core.text import escape_unprintable, make_plain
from opproof.core.verdicts import MEANING
from opproof.reports._kinds import DEFAULT_ALLOWED_UNITS, KINDS, LABELS, result_kind_of, sort_worst_first
from opproof.reports._record import Header, Result
from opproof.reports._summary import list_failures
from opproof.reports._text import format_count, short_names_of
from opproof.reports._text import place as name_element
from opproof.reports.advice import withdraw_refuted
from opproof.reports.causes import find_causes
from opproof.reports.changes.record import TITLES, WORSE, Change, Changes
from opproof.reports.changes.text import summarise_changes
from opproof.reports.html.pictures import encode_pictures
from opproof.reports.support import STATES, make_matrix, summarise_backends

_DTYPES = ("f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "i32", "i16", "i8", "u8")
# Stands for the case id inside the texts that repeat it (the repro line always does), so that these become few.
_CASE = "\x01"
_NOTHING = 0

_MAX_MESSAGE_CHARACTERS = (
    1_600_000  # characters of messages: thousands of distinct stack traces must not make the page too large
)
# Characters that what failures looked like may fill the page up to, and what is theirs in any case.
_MAX_PAGE_CHARACTERS = 5_200_000
_MIN_PICTURE_CHARACTERS = 400_000


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
        long = self.length > _MAX_MESSAGE_CHARACTERS and len(text) > 80
        return self.add("(left out of this page, which has too many such texts: see results.jsonl)" if long else text)

    @property
    def shown(self) -> list[str]:
        """The texts, of names that nothing here has looked at."""
        return list(map(escape_unprintable, self.index))


def encode(
    header: Header,
    results: Sequence[Result],
    docs: Mapping[str, str],
    scripts: Mapping[str, str],
    changes: Changes | None,
) -> str:
    """JSON that may stand in a script element: it holds no `<`."""
    results = withdraw_refuted(results)
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    strings, cases = _Texts([""]), _Texts()  # the empty text is _NOTHING
    ops = _Texts(sorted({r.op for r in results}))
    dtypes = _Texts(sorted({r.dtype for r in results}, key=_dtype_order_of))
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
        columns["kind"].append(_KIND[result_kind_of(r)])
        columns["units"].append(_round_units(r.units))
        for name in ("limit", "rms", "bias"):
            columns[name].append(_round_units(getattr(r, name)))
        columns["nonfinite"].append(r.nonfinite)
        columns["declared"].append(strings.add(escape_unprintable(r.declared)))
        columns["rounding"].append(strings.add(escape_unprintable(r.rounding)))
        columns["seconds"].append(_round_units(r.seconds))
        columns["judging"].append(_round_units(r.judging))
        columns["repro"].append(strings.add(_fold_case(escape_unprintable(r.repro), r.case)))
        for name in ("message", "diagnosis", "known"):
            text = getattr(r, name)
            columns[name].append(strings.add_message(_fold_case(make_plain(text), r.case)) if text else _NOTHING)
        columns["worst"].append(_encode_worst(r, strings))
        columns["ulp"].append(_encode_ulp(r, strings))
        columns["standard"].append(_encode_standard(r, strings))
    columns["rank"] = _rank_results(results)
    before = None if changes is None else _encode_changes(changes, verdicts)
    page = {
        "constant": header.constant or DEFAULT_ALLOWED_UNITS,
        "schema": header.schema,
        "ops": ops.shown,
        "dtypes": dtypes.shown,
        "modes": modes.shown,
        "backends": backends.shown,
        "names": list(map(escape_unprintable, short_names_of(backends.index).values())),
        "verdicts": verdicts.shown,
        "meanings": MEANING,
        "kinds": KINDS,
        "labels": [LABELS[k] for k in KINDS],
        "cases": cases.shown,
        "columns": columns,
        "docs": {escape_unprintable(op): escape_unprintable(text) for op, text in docs.items() if op in ops.index},
        "scripts": {
            escape_unprintable(case): escape_unprintable(text) for case, text in scripts.items() if case in cases.index
        },
        "changes": before,
        "causes": _encode_causes(results, strings),
        "support": _support(results),
        "strings": list(strings.index),
    }
    text = _encode_json(page)
    seen = _encode_json(encode_pictures(results, max(_MIN_PICTURE_CHARACTERS, _MAX_PAGE_CHARACTERS - len(text))))
    return f'{text[:-1]},"evidence":{seen}}}'.replace("<", "\\u003c")


def _encode_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


_COLUMNS = tuple(
    "case op dtype mode backend verdict kind units limit rms bias declared rounding nonfinite seconds judging "
    "message diagnosis known repro worst ulp standard".split()
)
_KIND = {kind: place for place, kind in enumerate(KINDS)}


def _fold_case(text: str, case: str) -> str:
    return text.replace(case, _CASE)


def _rank_results(results: Sequence[Result]) -> list[int]:
    """The place of each record in the order from worst to best."""
    ranks = [0] * len(results)
    for rank, place in enumerate(sort_worst_first(results)):
        ranks[place] = rank
    return ranks


def _encode_worst(r: Result, strings: _Texts) -> list[Any] | int:
    """[tensor, index, got, expected, bound], or 0 where there is none."""
    if r.worst is None:
        return 0
    w = r.worst
    index = ", ".join(map(str, w.index))
    return [
        strings.add(escape_unprintable(w.tensor)),
        index,
        _encode_number(w.got),
        _encode_number(w.expected),
        _encode_number(w.bound),
    ]


def _encode_ulp(r: Result, strings: _Texts) -> list[Any] | int:
    """[error, element], or 0 where there is none."""
    u = r.ulp
    return 0 if u is None else [_round_units(u.size), strings.add(escape_unprintable(name_element(u.tensor, u.index)))]


def _encode_standard(r: Result, strings: _Texts) -> list[Any] | int:
    """[verdict, share, limit, clause, element] of the standard, or 0 where none was asked."""
    s = r.standard
    if s is None:
        return 0
    texts = [s.limit, s.clause, name_element(s.tensor, s.index) if s.tensor else ""]
    return [strings.add(escape_unprintable(s.verdict)), _round_units(s.share), *map(strings.add, texts)]


def _encode_number(value: float | str) -> float | str:
    # JSON has neither nan nor inf
    return value if isinstance(value, str) or math.isfinite(value) else str(value)


def _round_units(value: float | str | None) -> float | str | None:
    # Three digits are all that an error estimate holds
    return _encode_number(float(f"{value:.4g}")) if isinstance(value, float | int) else value


def _dtype_order_of(name: str) -> tuple[int, str]:
    return (_DTYPES.index(name) if name in _DTYPES else len(_DTYPES), name)


def _encode_causes(results: Sequence[Result], strings: _Texts) -> list[list[Any]]:
    """[why, the places of its records] of each cause, in the order of all renderings."""
    places = {id(r): place for place, r in enumerate(results)}
    return [
        [
            strings.add_message(_fold_case(make_plain(c.why), c.smallest.case)),
            [places[id(r)] for r in c.records],
        ]
        for c in find_causes(list_failures(results))
    ]


def _support(results: Sequence[Result]) -> dict[str, Any]:
    """The support matrix: sentences, and by operator a list [values, gradients, dtypes] for each backend."""
    cells = make_matrix(results)
    rows = {
        escape_unprintable(op): [[c.value, c.gradient, escape_unprintable(" ".join(c.dtypes))] for c in row.values()]
        for op, row in cells.items()
    }
    return {"sentences": summarise_backends(cells), "rows": rows, "states": [STATES[k] for k in KINDS]}


def _encode_changes(changes: Changes, verdicts: _Texts) -> dict[str, Any]:
    """The change of each record, its verdict (-1 where it is new) and figures in the baseline; what to say of all."""
    names = list(TITLES)
    places = {change: place for place, change in enumerate(names)}
    before = [c.before for c in changes.records]
    sizes = [f"{format_count(len(changes.vanished), 'record')} of the baseline did not run now"] * bool(
        changes.vanished
    )
    return {
        "names": names,
        "titles": [TITLES[c] for c in names],
        "counts": [len(changes.of(c)) for c in names],
        "worse": [c in WORSE for c in names],
        "same": places[Change.SAME],
        "sentence": summarise_changes(changes),
        "notes": [*[changes.conditions] * bool(changes.conditions), *changes.notes, *sizes],
        "change": [places[c.change] for c in changes.records],
        "verdict": [-1 if r is None else verdicts.add(r.verdict) for r in before],
        **{
            name: [None if r is None else _round_units(getattr(r, name)) for r in before]
            for name in ("units", "limit", "rms", "bias")
        },
    }
