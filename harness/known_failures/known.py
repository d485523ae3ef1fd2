"""The list of known failures: a TOML file of [[known]] tables, each with the cause of a failure.

    [[known]]
    operators = ["cosh", "sinh"]
    vjp = "multiply_stored_factor"        # a function of causes.py beside the file: see causes.py
    reason = "g sinh(x) stores sinh(x) in f16, which overflows where the product with g does not"

docs/explanation/known-failures.md says what else an entry may hold, and when it explains a failure.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import re
import tomllib
import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from opproof.core.capabilities import backend_of
from opproof.core.errors import UsageError
from opproof.core.graph import is_graph
from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.known_failures.causes import ARITHMETICS, FUNCTIONS, Where, check_names
from opproof.harness.known_failures.limits import SIZED, ErrorLimits
from opproof.reference_ops import operators_of
from opproof.reports import Result

_SEED = re.compile(r";seed=\d+(?=\]$)")  # the last part of an id


@functools.cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Of the texts that match."""
    return re.compile(".*".join(map(re.escape, pattern.split("*"))))


@functools.lru_cache(2**16)
def strip_seed(case: str) -> str:
    """The id of the same case with the seed left out."""
    return _SEED.sub("", case)


def matches(pattern: str, case: str) -> bool:
    """Whether the pattern covers the id."""
    return compile_pattern(pattern).fullmatch(case if ";seed=" in pattern else strip_seed(case)) is not None


def covers_all(pattern: str) -> bool:
    """Whether the pattern names an operator, or none, and nothing else: no fill, shape, dtype, layout, parameter."""
    op, bracket, rest = pattern.partition("[")
    rest = rest if bracket else op[op.find("*") :] if "*" in op else "one case"
    return not re.sub(r"\w+=(?=\*)|[*;\]]", "", rest)


T = TypeVar("T")

#: Metadata of a dataclass's field that no table may give.
NOT_OF_THE_FILE = MappingProxyType({"file": False})


def read_entries(path: Path, name: str, kind: type[T]) -> list[T]:
    """The [[name]] tables of the file as `kind`, a dataclass. Raises UsageError that names the file and the entry.

    What `kind` itself refuses, a ValueError of its __post_init__, becomes the sentence.
    """
    return decode_entries(path, name, kind, read_tables(path, name))


def read_tables(path: Path, name: str) -> Sequence[Any]:
    """The [[name]] tables of the file as they are. Raises UsageError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the ledger {path}: {error.strerror or error}; give an existing file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}.") from None
    entries = document.get(name, [])
    if set(document) - {name} or not isinstance(entries, list):
        raise UsageError(f"{path}: expected [[{name}]] tables only, got {', '.join(document)}.")
    return entries


def decode_entries(path: Path, name: str, kind: type[T], entries: Sequence[Any]) -> list[T]:
    """`entries` of the file as `kind`, as in read_entries."""
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    hints = typing.get_type_hints(kind)
    types = {f.name: hints[f.name] for f in fields if f.metadata != NOT_OF_THE_FILE}
    needed = [f.name for f in fields if f.default is dataclasses.MISSING]
    decoded = []
    for number, entry in enumerate(entries, start=1):
        where = f"{path}, entry {number}"
        if not isinstance(entry, dict):
            raise UsageError(f"{where}: expected a [[{name}]] table, got {entry!r}.")
        if missing := [field for field in needed if field not in entry]:
            raise UsageError(f"{where}: no {' and no '.join(missing)}; every [[{name}]] table has {', '.join(needed)}.")
        for key, value in entry.items():
            if key not in types:
                raise UsageError(f"{where}: unknown key {key!r}; expected {', '.join(types)}.")
            try:
                msgspec.convert(value, types[key])
            except msgspec.ValidationError:
                raise UsageError(f"{where}: {key} is {value!r}; expected {_describe_type(types[key])}.") from None
        try:
            decoded.append(msgspec.convert(entry, kind))
        except msgspec.ValidationError as error:  # what the type itself refuses
            raise UsageError(f"{where}: {error}.") from None
    return decoded


def _describe_type(hint: Any) -> str:
    """A type in words: a str, one of forward, gradient, a list, each a str."""
    if typing.get_origin(hint) is tuple:
        return f"a list, each {_describe_type(typing.get_args(hint)[0])}"
    kinds = [k for k in typing.get_args(hint) if k is not type(None)]
    kind = kinds[0] if kinds else hint
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of {', '.join(sorted(member.value for member in kind))}"
    return f"a {getattr(kind, '__name__', kind)}"


#: In the place of operators: all of them.
ANY = "*"


@dataclass(frozen=True)
class Known:
    """One entry of the list. Raises ValueError where a field says nothing, or what cannot be."""

    reason: str
    operators: tuple[str, ...] = ()  # instead of patterns: those that a cause or a message speaks of; of a message, ANY
    dtypes: tuple[str, ...] = ()  # any, like the where that follows
    where: Where | None = None
    seen_on: Where | None = None
    forward: str = ""  # names of functions of causes.py, empty for none
    vjp: str = ""
    undefined: str = ""
    when: str = ""
    arithmetic: str = ""
    rounding: str = ""
    message: str = ""
    without_cause: str = ""
    folder: str = field(default="", metadata=NOT_OF_THE_FILE)  # where causes.py lies
    built_in: bool = field(default=False, metadata=NOT_OF_THE_FILE)  # a run neither fails nor speaks because of it
    patterns: tuple[str, ...] = ()
    pattern: str = ""
    backends: tuple[str, ...] = ()  # any, like the modes, verdict and versions that follow
    backend: str = ""
    modes: tuple[Mode, ...] = ()
    mode: Mode | None = None
    verdicts: tuple[Verdict, ...] = ()
    verdict: Verdict | None = None
    versions: tuple[str, ...] = ()
    link: str = ""
    until: datetime.date | None = None
    units: float | None = None
    rms: float | None = None
    share: float | None = None
    nonfinite: bool = False
    zeros: bool = False

    def __post_init__(self) -> None:
        for what, several, one in (
            ("pattern", self.patterns, self.pattern),
            ("backend", self.backends, self.backend),
            ("mode", self.modes, self.mode),
            ("verdict", self.verdicts, self.verdict),
        ):
            if several and one:
                raise ValueError(f"{what} and {what}s are given; give one of them")
        if bool(self.globs) == bool(self.operators):
            raise ValueError(
                "operators and patterns are given; give one of them"
                if self.globs
                else "no operators and no pattern; give operators with a cause, or patterns, case ids in which * "
                "matches anything"
            )
        if not self.reason.strip() or not all(p.strip() for p in (*self.globs, *self.operators)):
            raise ValueError("pattern or reason is blank; a known failure has a cause")
        if open_ := next((v for v in self.failures if v not in FAILED), None):
            raise ValueError(f"verdict is {str(open_)!r}; expected one of {', '.join(sorted(FAILED))}")
        if self.verdicts and not SIZED.isdisjoint(self.verdicts) and not self.operators:
            raise ValueError(
                f"verdicts are of faults; {', '.join(sorted(SIZED))} have a size, and an entry of their own"
            )
        self.limits.check()
        if self.operators:
            self._check_cause()
        elif self.cause:
            raise ValueError(f"{self.cause.partition('=')[0]} is given with patterns; a cause speaks of operators")
        elif not self.is_fault:
            self._check_limits()

    def _check_cause(self) -> None:
        """Raise ValueError where nothing can be executed."""
        if ANY in self.operators and not self.message:
            raise ValueError(f"operators are {ANY!r} without a message; name those that the cause speaks of")
        if self.limits != ErrorLimits():
            raise ValueError("operators are given with a size; a cause is executed and needs none, patterns have one")
        if self.arithmetic and self.arithmetic not in ARITHMETICS:
            raise ValueError(f"arithmetic is {self.arithmetic!r}; expected one of {', '.join(ARITHMETICS)}")
        if self.rounding not in ("", "truncate"):
            raise ValueError(f"rounding is {self.rounding!r}; expected 'truncate', or nothing for to nearest")
        changed = self.forward or self.vjp or self.undefined or self.arithmetic
        if self.is_fault and (changed or not (self.message or self.when)):
            raise ValueError("a fault has no reference to change; give message, words of the record's, or when")
        if not self.is_fault and (self.message or not changed):
            raise ValueError(
                "a wrong answer is explained by forward, vjp, arithmetic or undefined, which change the reference; "
                "verdict, with message or when, speaks of faults"
            )

    def _check_limits(self) -> None:
        """Raise ValueError where the entry would explain an operator that broke."""
        if self.limits == ErrorLimits(rms=self.rms):
            raise ValueError(
                f"{self.name} has no limit; add units, at most twice the largest error seen, or nonfinite = true where "
                "NaN or infinity is what is wrong: `opproof run --update-known FILE` proposes both"
            )
        if wide := next(filter(covers_all, self.globs), ""):
            raise ValueError(f"{wide!r} covers whole operators; name the fills, shapes, dtypes or parameters that fail")

    @property
    def globs(self) -> tuple[str, ...]:
        return self.patterns or ((self.pattern,) if self.pattern else ())

    @property
    def specs(self) -> tuple[str, ...]:
        """Patterns of the backends that the entry speaks of; none for any."""
        return self.backends or ((self.backend,) if self.backend else ())

    @property
    def ops(self) -> frozenset[str]:
        """The operators, or what stands before the bracket of the patterns."""
        return frozenset(self.operators or (p.partition("[")[0] for p in self.globs))

    @property
    def name(self) -> str:
        """What to call the entry."""
        if self.operators:
            return f"known failure {', '.join(self.operators)} ({self.cause})"
        more = len(self.globs) - 1
        return f"known failure {self.globs[0]!r}{f' and {more} more' if more else ''}"

    @property
    def cause(self) -> str:
        """What is executed, in words that a record keeps; empty of an entry that has none."""
        names = ("forward", "vjp", "undefined", "arithmetic", "rounding", "message", "when")
        return "; ".join(f"{name}={getattr(self, name)}" for name in names if getattr(self, name))

    @property
    def limits(self) -> ErrorLimits:
        """How large the failure may be."""
        return ErrorLimits(self.units, self.rms, self.share, self.nonfinite, self.zeros)

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The verdicts that the entry speaks of; none for any."""
        return self.verdicts or (() if self.verdict is None else (self.verdict,))

    @property
    def is_expected(self) -> bool:
        """Whether it is to explain something on this machine, in a run of its operators."""
        return self.seen_on is None or self.seen_on.holds()

    @property
    def is_fault(self) -> bool:
        """Whether what is known is no wrong number."""
        return bool(self.failures) and SIZED.isdisjoint(self.failures)

    @property
    def every_mode(self) -> tuple[Mode, ...]:
        """The modes that the entry speaks of: those stated, or those whose formula is changed; none for any."""
        stated = (*self.modes, *((self.mode,) if self.mode else ()))
        if stated or not (self.forward or self.vjp):
            return stated
        return tuple(m for m, named in ((Mode.FORWARD, self.forward), (Mode.GRADIENT, self.vjp)) if named)

    def can_name(self, op: str) -> bool:
        """Whether a pattern can match a case of the operator: far quicker to ask than whether it matches one."""
        called = operators_of(op)
        return any(op.startswith(o[: o.index("*")]) if "*" in o else o in called for o in self.ops)

    def covers_case(self, case: str) -> bool:
        """Whether a pattern matches the id, or the operator and the dtype, of a tensor at least, are stated."""
        if self.operators:
            op, _, rest = case.partition("[")
            if ANY not in self.operators and operators_of(op).isdisjoint(self.operators):
                return False
            return not self.dtypes or not _list_dtypes(rest).isdisjoint(self.dtypes)
        return any(matches(p, case) for p in self.globs)

    def speaks_of(self, case: str, mode: Mode, spec: str) -> bool:
        """Whether the entry speaks of the case in this mode on this backend."""
        return self.covers_backend(spec) and self.covers_call(case, mode)

    def covers_call(self, case: str, mode: Mode) -> bool:
        """Whether the entry speaks of the case in this mode: of a graph's gradient too where it does of its values."""
        modes = (mode, Mode.FORWARD) if is_graph(case) else (mode,)
        return any(map(self.covers_mode, modes)) and self.covers_case(case)

    def covers_mode(self, mode: Mode) -> bool:
        """Whether the entry speaks of the mode; of wrong calls, where it says so."""
        return (not self.every_mode and mode is not Mode.REFUSAL) or mode in self.every_mode

    def covers_backend(self, spec: str) -> bool:
        """Whether the entry speaks of the backend."""
        some = (spec, backend_of(spec))  # whatever capability it runs under, unless the entry names one
        return not self.specs or any(compile_pattern(s).fullmatch(one) for s in self.specs for one in some)

    def covers(self, result: Result) -> bool:
        """Whether the entry speaks of this case, mode and backend, whatever the verdict."""
        return self.speaks_of(result.case, result.mode, result.backend)

    def names(self, result: Result) -> bool:
        """Whether the entry speaks of this failure, however large it is."""
        return self.is_named(result.verdict) and self.covers(result)

    def is_named(self, verdict: Verdict) -> bool:
        """Whether the entry speaks of the verdict: those stated, else wrong numbers of a cause, any of a pattern."""
        return verdict in (self.failures or (SIZED if self.operators else FAILED))

    def explains(self, result: Result) -> bool:
        """Whether the entry makes this failure a known one."""
        if not self.names(result):
            return False
        if self.operators:
            return self.cause in result.causes
        return self.is_fault or (result.verdict in SIZED and self.limits.allow(result))


def _list_dtypes(rest: str) -> set[str]:
    """The parts of an id from its bracket on, its dtype among them, and the dtypes of its `mixed` tensors."""
    words = rest.rstrip("]").split(";")
    mixed = (w.partition("=")[2] for w in words if w.startswith("mixed="))
    return {*words, *(pair.partition(":")[2] for pairs in mixed for pair in pairs.split(","))}


def read_known(path: Path) -> list[Known]:
    """The entries of a list. Raises UsageError that names the file and the entry."""
    entries = read_entries(path, "known", Known)
    check_names(
        path, ((n, k, getattr(e, k)) for n, e in enumerate(entries, start=1) for k in FUNCTIONS if getattr(e, k))
    )
    return [replace(e, folder=str(path.resolve().parent)) if e.operators else e for e in entries]


def mark(result: Result, known: Iterable[Known]) -> Result:
    """The result, with the reason of the entry that explains it."""
    if result.verdict not in FAILED:
        return result
    for entry in known:
        if entry.explains(result):
            return replace(result, known=entry.reason)
    return result
