"""Which (case, mode) pairs a run tries: of a level, its shard of them, or drawn from spaces until time is up.

Each case and mode belongs to one shard, by a hash of its id: shards are disjoint and complete, and a case stays in its
shard whatever other cases come or go. The draws of a seed are the same on every machine, however many there is time
for.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from opproof.cases import Case, _file, cases_of
from opproof.cases._chunks import make_chunks
from opproof.cases._fills.exhaustive import is_pairs
from opproof.cases._fills.fills import FORWARD_ALONE, NOT_FINITE
from opproof.cases._rows.derived import of_cotangents
from opproof.core.dtypes import DTYPES, FLOATS
from opproof.core.errors import UsageError, suggest
from opproof.core.verdicts import EXHAUSTIVE, MODES, Mode, Verdict
from opproof.harness.known_failures.findings import Extent
from opproof.harness.known_failures.known import Known
from opproof.harness.reference.valid_case import check_case, load_own
from opproof.harness.reference.wrong_call import wrong_calls_of
from opproof.harness.run.task import Task, op_name_of
from opproof.harness.space.stream import draw_on
from opproof.reference_ops import Op, graph_names, load, names
from opproof.reference_ops._op import FOLDER
from opproof.reports import Result

#: Backends that take turns at a case.
_IN_TURN = 8
#: Cases of an operator in its first turns; in the last it has all others.
TURNS = (1, 1, 2, 4, 8, 16, 32, 64, 128)
#: Ids of one operator that are tried in the time in which its rows are read.
_MAX_IDS_TRIED_FIRST = 32


@dataclass(frozen=True)
class Selection:
    """What the command line asks for."""

    ops: tuple[str, ...] = ()
    keyword: str = ""
    level: str = "standard"
    modes: tuple[str, ...] = MODES
    dtypes: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    case_files: tuple[str, ...] = ()  # paths, or names of models (cases/models)
    wrong_calls: bool = False  # and the calls that must be refused
    seed: int = 0
    folders: tuple[str, ...] = ()
    shard: str = ""  # "2/5": the second of five parts


def select_operators(selection: Selection) -> list[Op]:
    """The operators asked for, those of the user's folders included. Raises OpError for an unknown one."""
    own = [op for folder in selection.folders for op in load_own(Path(folder))]
    if not selection.ops:
        return [*own, *(load(n) for n in names())]
    by_name = {op.name: op for op in own}
    named = (name for word in selection.ops for name in (graph_names() if word == "graphs" else [word]))
    return [by_name.get(name) or load(name) for name in named]


def select_cases(selection: Selection) -> list[Case]:
    """The cases asked for, those of a level with operators in turn. Raises UsageError, OpError or CaseError."""
    for dtype in selection.dtypes:
        if dtype not in DTYPES:
            raise UsageError(f"unknown dtype {dtype!r}: expected one of {', '.join(DTYPES)}{suggest(dtype, DTYPES)}")
    if selection.cases:
        chosen = _select_named(selection)
    elif selection.case_files:
        chosen = _read_listed(selection)
    elif selection.level == EXHAUSTIVE:
        of = [(op.name, op.rows, selection.dtypes, op.facts["PAIRS"]) for op in select_operators(selection)]
        chosen = [c for name, rows, dtypes, pairs in of for c in make_chunks(name, rows, dtypes, pairs=pairs)]
    else:
        chosen = _take_turns(
            [c for c in cases_of(op.name, selection.level, op.rows) if any(is_asked(c, op, mode) for mode in MODES)]
            for op in select_operators(selection)
        )
        if selection.wrong_calls:  # last: what they damage is no other case's
            chosen += [c for op in select_operators(selection) for c in wrong_calls_of(op)]
    if selection.seed:  # an id that names a seed means its own
        chosen = [c if selection.cases and c.seed else c.with_seed(selection.seed) for c in chosen]
    matches = make_keyword_filter(selection.keyword)
    return [c for c in chosen if (not selection.dtypes or c.dtype in selection.dtypes) and matches(str(c))]


def _take_turns(cases: Iterable[Sequence[Case]]) -> list[Case]:
    """The cases of all operators, a few of each in turn and ever more: a broken operator shows in seconds."""
    every, begins = list(cases), (0, *itertools.accumulate(TURNS))
    ends = (*begins[1:], None)
    return [c for begin, end in zip(begins, ends, strict=True) for of_one in every for c in of_one[begin:end]]


def _select_named(selection: Selection) -> list[Case]:
    """The cases whose ids are given. Of an operator with many of them the registry's own are not tried first."""
    named = [Case.parse(text) for text in selection.cases]
    often = tuple(op for op, count in Counter(c.op for c in named).items() if count > _MAX_IDS_TRIED_FIRST)
    ops = select_operators(Selection(ops=often, folders=selection.folders)) if often else []
    own = {c for op in ops for c in cases_of(op.name, "standard", op.rows)}
    return [c if c in own else check_case(c, selection.folders) for c in named]


def _read_listed(selection: Selection) -> list[Case]:
    if selection.level == EXHAUSTIVE:
        raise UsageError(f"--level {EXHAUSTIVE} has chunks of its own: give it -o and --dtype, not --cases.")
    paths = [_file.path_of(text) for text in selection.case_files]
    read = [c for path in paths for c in _file.read(path).cases(selection.level, path.parent)]
    wanted = [c for c in dict.fromkeys(read) if not selection.ops or c.op in selection.ops]
    return [check_case(c, selection.folders) for c in wanted]


def make_tasks(backends: Iterable[str], selected: Sequence[Case], selection: Selection, **rules: object) -> list[Task]:
    """One task per case, backend and mode of the shard; gradient only where there is one to ask for.

    Backends take turns at a case, so that what is true of it is worked out once for all of them; a few at a time, since
    each of them keeps a process.
    """
    by_name = {
        op.name: op
        for op in select_operators(Selection(ops=tuple({c.op for c in selected}), folders=selection.folders))
    }
    folders = tuple(str(Path(f).resolve()) for f in selection.folders)
    part, count = parse(selection.shard) if selection.shard else (1, 1)
    every = tuple(backends)
    return [
        Task(backend, text, mode, ops=folders, **rules)  # type: ignore[arg-type]
        for few in (every[i : i + _IN_TURN] for i in range(0, len(every), _IN_TURN))
        for case, text in zip(selected, map(str, selected), strict=True)
        for backend in few
        for mode in ((Mode.REFUSAL,) if case.wrong else selection.modes)
        if is_asked(case, by_name[case.op], mode) and shard_of(text, mode, count) == part
    ]


def with_known(tasks: Iterable[Task], known: Iterable[Known]) -> list[Task]:
    """The tasks, each with the entries of the ledger that speak of it."""
    every = tuple(known)

    @functools.cache
    def of_op(op: str) -> tuple[Known, ...]:
        return tuple(k for k in every if k.can_name(op))

    def entries(task: Task) -> tuple[Known, ...]:
        return tuple(k for k in of_op(op_name_of(task)) if k.speaks_of(task.case, Mode(task.mode), task.backend))

    return [replace(task, known=speaking) if (speaking := entries(task)) else task for task in tasks]


def is_asked(case: Case, op: Op, mode: str) -> bool:
    """Whether the case has the mode: a gradient to ask for; outputs, where it is not of cotangents alone."""
    if case.wrong or mode == Mode.REFUSAL:
        return bool(case.wrong) and mode == Mode.REFUSAL
    return has_gradient(case, op) if mode == Mode.GRADIENT else not of_cotangents(case)


def has_gradient(case: Case, op: Op) -> bool:
    """Whether the case has a gradient to ask for: none of integers, and of 8 bits, which hold no gradients.

    And none at NaN and infinity, whose conventions differ.
    """
    if case.fill in NOT_FINITE or is_pairs(case.fill) or case.dtype in FORWARD_ALONE.get(case.fill, ()):
        return False
    if case.dtype not in FLOATS:
        return False
    if case.inplace and case.needs is not None and case.inplace not in case.needs:
        return False  # no gradient to lie where the cotangent does
    return op.vjp is not None or op.source.parent != FOLDER  # a user's op without vjp: finite differences


#: What joins words of -k.
_OPERATORS = frozenset({"and", "or", "not", "(", ")"})


def make_keyword_filter(expression: str) -> Callable[[str], bool]:
    """A predicate on case ids from words joined by `and`, `or`, `not` and parentheses, as pytest's -k.

    A word matches where it stands anywhere in the id, whatever its case. Raises UsageError.
    """
    if not expression.strip():
        return lambda _: True
    tokens = re.findall(r"\(|\)|[^\s()]+", expression)
    words = [token.lower() for token in tokens if token not in _OPERATORS]
    numbers = itertools.count()
    program = [token if token in _OPERATORS else f"w[{next(numbers)}]" for token in tokens]
    malformed = UsageError(f"malformed -k {expression!r}: expected words joined by and, or, not, parentheses.")
    try:
        tree = ast.parse(" ".join(program), "-k", "eval")
    except SyntaxError:
        raise malformed from None
    if any(isinstance(node, ast.Call | ast.Tuple) for node in ast.walk(tree)):  # a (b), ()
        raise malformed
    code = compile(tree, "-k", "eval")
    return lambda text: bool(eval(code, {"__builtins__": {}}, {"w": [w in text.lower() for w in words]}))  # noqa: S307 - only w[i], and, or, not, ()


def parse(text: str) -> tuple[int, int]:
    """`2/5` as (2, 5). Raises UsageError."""
    match = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"malformed shard {text!r}: expected K/N with 1 <= K <= N, such as 2/5.")
    return int(match[1]), int(match[2])


def shard_of(case: str, mode: str, count: int) -> int:
    """Which of `count` shards the case and mode belong to, from 1."""
    if count == 1:  # as in most runs, of thousands of cases
        return 1
    digest = hashlib.blake2b(f"{case} {mode}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % count + 1


def scope_of(selection: Selection) -> Extent:
    narrow = (selection.keyword, selection.dtypes, selection.cases, selection.case_files, selection.shard)
    if any(narrow) or selection.level in ("smoke", EXHAUSTIVE):
        return Extent.PART
    return Extent.OPERATORS if selection.ops or selection.modes != MODES else Extent.ALL


#: Cases that are drawn while those before them run; the first of them run whatever the time.
CASES_AT_ONCE = 64
#: Records of an operator that are all declined, after which no more of its cases are drawn.
MAX_DECLINED = 6


def draw_cases(selection: Selection, declined: Collection[str]) -> Iterator[Case]:
    """Cases of the operators asked for, but for those `declined`, in the order of seed and shard. Raises UsageError."""
    if selection.cases or selection.case_files or selection.level != "standard" or selection.wrong_calls:
        raise UsageError("--for draws cases of its own; leave out --case, --cases, --level and --wrong-calls.")
    matches = make_keyword_filter(selection.keyword)

    def accepts(case: Case) -> bool:
        return (not selection.dtypes or case.dtype in selection.dtypes) and matches(str(case))

    drawn = draw_on(select_operators(selection), f"{selection.seed} {selection.shard}", accepts, declined)
    return (case.with_seed(selection.seed) if selection.seed else case for case in drawn)


def draw_task_lists(
    backends: Sequence[str], selection: Selection, rules: dict[str, object], declined: Collection[str]
) -> Iterator[list[Task]]:
    """The tasks of the cases drawn, some at a time, without end."""
    cases, whole = draw_cases(selection, declined), replace(selection, shard="")
    while some := list(itertools.islice(cases, CASES_AT_ONCE)):
        yield make_tasks(backends, some, whole, **rules)


def iterate_ahead(lists: Iterator[list[Task]], deadline: float) -> Iterator[list[Task]]:
    """The lists until the deadline, each drawn while the one before it runs."""
    with ThreadPoolExecutor(1) as executor:
        following = executor.submit(next, lists, None)
        while time.monotonic() < deadline and (some := following.result()) is not None:
            following = executor.submit(next, lists, None)
            yield some


@dataclass
class DeclinedOperators:
    """Which operators no backend takes on, by the records so far."""

    names: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def note(self, result: Result) -> None:
        """Count a record: one that is answered says that its operator is taken on."""
        if result.verdict != Verdict.UNSUPPORTED:
            self.answered.add(result.op)
        self.counts[result.op] += 1
        if result.op not in self.answered and self.counts[result.op] >= MAX_DECLINED:
            self.names.add(result.op)


def keep_cases(path: Path, cases: Iterable[str]) -> int:
    """Add the cases to a file of ids that has them not yet, and return how many these are. Raises UsageError."""
    try:
        known = set(path.read_text(encoding="utf-8").split("\n")) if path.exists() else set()
        fresh = [case for case in dict.fromkeys(cases) if case not in known]
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{case}\n" for case in fresh)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot add cases to {path}: {reason}; give another file with --keep.") from None
    return len(fresh)
