"""The record `Op`, and how a file of plain functions becomes one."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

from opproof.core.dtypes import DTYPES, Kind
from opproof.core.errors import OpError, find_near, suggest
from opproof.core.system import spec_of
from opproof.core.verdicts import LEVELS
from opproof.reference_ops._traits import Trait

FOLDER = Path(__file__).parent

#: The facts an operator's file may state, with what holds when it does not.
FACTS: dict[str, Any] = {
    "ANALYTIC": False,  # holomorphic in its float inputs: complex step applies
    "EXACT": (),  # of "forward", "vjp": commits no rounding error at all
    "MULTILINEAR": False,  # sums of products of its inputs: integers in, integers out
    "TRIVIAL": {},  # {"forward": {"copy"}, "vjp": {"zeros"}}: trivial answers that are right
    "DETERMINISTIC": True,  # the same call gives the same bits
    "OUTPUTS": ("y",),  # names of the outputs
    "ON_REQUEST": (),  # those that libraries compute where asked: who has not got one gives None for it
    "APART": False,  # conventions hold of each element by itself, not of the whole array
    "TRAITS": (),  # words of Trait, for what no signature tells
    "SYMMETRIC": (),  # tensors of symmetric matrices: who reads one triangle has the whole gradient there
    "NEIGHBOURS": (),  # operators of the same tensors that this one is easily taken for
    "IN_PLACE": None,  # tensors in whose memory the first output may lie; None: pointwise, all of them, else none
    "LIKE": "",  # the tensor whose dtype results have where tensors have several; the first, if unstated
    "KINDS": (),  # of numbers beside floats that it has a meaning in: float8, signed, unsigned (core/dtypes.py)
    "DRAWN_FROM": "",  # the parameter from which an implementation draws what no reference can know
    "TWIN_ERRS": (),  # rows, without dtype, that PyTorch itself has wrong: docs/reference/defects/torch.md
    "BEYOND": False,  # what it gives outside of its domain is judged too: `every` number is tried there as well
    "SIGNATURE": "",  # its tensors' axes by name (docs/explanation/space.md); "(...)" of each, if unstated
    "PAIRS": False,  # every pair of numbers has a result by definition: of 16 bits all are tried at level exhaustive
    "SIGNED_ZEROS": False,  # IEEE 754-2019 defines the signs of its zeros, which forward has
    "REPEATS": "",  # "forward" or "vjp": where indices that name one place twice add up there
}


@dataclass(frozen=True, slots=True)
class Op:
    """Everything that is true of one operator. Functions take tensors positionally, parameters by name.

    Where equal elements of the first tensor may change places, `ties(*tensors, **params)` numbers their groups from 0,
    in the tensor's shape: gradients inside a group may stand in any order. `settled(outputs, *tensors, **params)`
    puts the reference's own choice in place of another that is as right. `conventions(*tensors, **params)` yields the
    answers of other definitions in use, each of all outputs, where definitions differ: NaN, infinities, masked rows. An
    array follows one of them as a whole, or, where APART, element by element.
    `hidden(*tensors, **params)` gives a mask per tensor, None where it hides nothing, of the elements that no result
    and no gradient depends on: what a mask leaves out, whatever stands there.
    `drawn(outputs, *tensors, **params)` gives the tensors with what an implementation drew, where operators draw: what
    else it answered is held against the outputs of these. `unfair(outputs, others, *tensors, **params)` says why the
    draw is no chance, where it is none; `others` are the outputs of another DRAWN_FROM, if there are any.
    `held(*tensors, **params)` gives a mask per tensor, None for none, of the elements whose gradient is 0 by definition
    though results depend on them.
    `domain(shapes, **params)` gives by tensor the numbers that it is meant for, as (low, high), strictly between; what
    is drawn is mapped into it, and `opproof show` says so. Where every number is tried those outside are replaced,
    unless BEYOND.
    `independent(shapes, **params)` gives, by tensor and output, the axes (counted from the last, -1) along which slices
    are independent: evaluated one by one and joined they are the whole. Pointwise operators need not say so.
    `partials(*tensors, **params)` yields what arithmetic in integers passes through on its way to the results, in
    any order, the largest and the least of it: data are drawn so that a case's dtype holds these too.
    """

    name: str
    doc: str
    source: Path
    forward: Callable[..., Any]
    tensors: tuple[str, ...]
    optional: frozenset[str]
    variadic: bool
    params: Mapping[str, Any]
    facts: Mapping[str, Any] = field(repr=False)
    traits: frozenset[Trait]
    kinds: frozenset[Kind]  # of numbers that it has a meaning in
    rows: Mapping[str, tuple[str, ...]]  # by level, of a user's file: built-in operators have theirs in cases/
    vjp: Callable[..., Any] | None = None
    torch: Callable[..., Any] | None = None
    kinks: Callable[..., Any] | None = None
    ties: Callable[..., Any] | None = None
    settled: Callable[..., Any] | None = None
    drawn: Callable[..., Any] | None = None
    unfair: Callable[..., str] | None = None
    conventions: Callable[..., Any] | None = None
    hidden: Callable[..., Any] | None = None
    held: Callable[..., Any] | None = None
    domain: Callable[..., Mapping[str, Any]] | None = None
    independent: Callable[..., Iterable[Mapping[str, int]]] | None = None
    partials: Callable[..., Iterable[Any]] | None = None
    reference: Callable[..., Any] | None = None  # a PyTorch function, which forward and vjp then call
    expression: str = ""  # of a graph, whole: what a backend is asked for in place of the name

    @property
    def called(self) -> str:
        """The name by which a backend is asked."""
        return self.expression or self.name

    @property
    def analytic(self) -> bool:
        """Whether the forward accepts complex inputs, so that the complex step verifies its vjp."""
        return bool(self.facts["ANALYTIC"])

    @property
    def multilinear(self) -> bool:
        """Whether integer inputs give integer results, compared bit for bit."""
        return bool(self.facts["MULTILINEAR"])

    @property
    def deterministic(self) -> bool:
        """Whether two equal calls owe equal bits."""
        return bool(self.facts["DETERMINISTIC"])

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(self.facts["OUTPUTS"])

    @property
    def apart(self) -> bool:
        """Whether an element may follow a convention that the one beside it does not."""
        return bool(self.facts["APART"])

    @property
    def symmetric(self) -> tuple[str, ...]:
        """Names of the tensors whose matrices are symmetric: of their gradients the symmetric part is determined."""
        return tuple(self.facts["SYMMETRIC"])

    @property
    def on_request(self) -> tuple[str, ...]:
        """Names of the outputs for which a backend may give None; the others are judged without them."""
        return tuple(self.facts["ON_REQUEST"])

    @property
    def like(self) -> str:
        """The tensor whose dtype results have where tensors of a call have several."""
        return str(self.facts["LIKE"] or next(iter(self.tensors), ""))

    @property
    def signature(self) -> str:
        """The axes of its tensors, by name, in the notation of NumPy's gufuncs."""
        return str(self.facts["SIGNATURE"])

    @property
    def drawn_from(self) -> str:
        """The parameter from which an implementation draws; empty where nothing is drawn."""
        return str(self.facts["DRAWN_FROM"])

    def twin_errs(self, case: str) -> bool:
        """Whether PyTorch's values or gradients of the case, in any dtype, are known to be wrong."""
        parts = [part for part in case.partition("[")[2].rstrip("]").split(";") if part not in DTYPES]
        return any(f"{';'.join(parts)};".startswith(f"{row};") for row in self.facts["TWIN_ERRS"])

    @property
    def neighbours(self) -> tuple[str, ...]:
        """Operators of the same tensors that this one is easily taken for."""
        return tuple(self.facts["NEIGHBOURS"])

    @property
    def in_place(self) -> tuple[str, ...]:
        """Names of the tensors in whose memory the first output may lie, where one has its shape and dtype."""
        stated = self.facts["IN_PLACE"]
        if stated is not None:
            return tuple(stated)
        return self.tensors if Trait.POINTWISE in self.traits else ()

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes of cases that it has a meaning in."""
        return tuple(name for name, dtype in DTYPES.items() if dtype.kind in self.kinds)

    def is_exact(self, mode: str) -> bool:
        """Whether `mode` ("forward" or "gradient") commits no rounding error."""
        return ("vjp" if mode == "gradient" else mode) in self.facts["EXACT"]

    def repeats(self, mode: str) -> bool:
        """Whether indices that name one place twice add up there in `mode`."""
        return bool(self.facts["REPEATS"] == ("vjp" if mode == "gradient" else mode))

    def trivial(self, mode: str) -> frozenset[str]:
        """Which trivial answers ("zeros", "constant", "copy") are the right ones in `mode`."""
        return frozenset(self.facts["TRIVIAL"].get("vjp" if mode == "gradient" else mode, ()))


def names() -> list[str]:
    """Names of all operators, sorted; reads the folder and imports nothing."""
    return sorted(p.stem for p in FOLDER.glob("*.py") if not p.stem.startswith("_"))


def summary(name: str) -> str:
    """First line of the operator's docstring, without its name; parses the file, imports nothing."""
    doc = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return doc.splitlines()[0].partition(": ")[2]


@functools.cache
def load(name: str) -> Op:
    """The operator `name`. Raises OpError when there is none."""
    if not (FOLDER / f"{name}.py").is_file() or name.startswith("_"):
        hint = suggest(name, names(), most=3) if find_near(name, names()) else "; `opproof list ops` prints them all."
        raise OpError(f"unknown operator {name!r}{hint}")
    return _build(importlib.import_module(f"{__package__}.{name}"), FOLDER / f"{name}.py")


@functools.cache
def load_file(path: Path) -> Op:
    """The operator in a file outside the tree. Raises OpError when it is not one."""
    spec = spec_of(f"opproof_user_op_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise OpError(f"{path} is not a Python file; an operator is one .py file named after it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise OpError(f"{path} could not be imported: {type(error).__name__}: {error}") from error
    return _build(module, path)


def load_folder(path: Path) -> list[Op]:
    """The operators of a file or of every file of a folder outside the tree."""
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    return [load_file(f.resolve()) for f in files if not f.stem.startswith("_")]


def _build(module: ModuleType, path: Path) -> Op:
    name, doc = path.stem, inspect.getdoc(module) or ""
    forward, vjp = getattr(module, "forward", None), getattr(module, "vjp", None)
    function = None if callable(forward) else getattr(module, "reference", None)
    if callable(function):
        from opproof.reference_ops._reference import alone  # NumPy, which a list of names does without

        of_torch = alone(function, path)
        forward, vjp, doc = of_torch.forward, of_torch.vjp, doc or f"{name}: a function of PyTorch."
        positional = [p for p in of_torch.positional if p.kind is not p.VAR_POSITIONAL]
        star = [p for p in of_torch.positional if p.kind is p.VAR_POSITIONAL]
        named = of_torch.named
    elif not callable(forward):
        raise OpError(
            f"{path}: no function `forward`, which computes the operator in NumPy, and no `reference` in PyTorch."
        )
    else:
        signature = inspect.signature(forward).parameters.values()
        positional = [p for p in signature if p.kind is p.POSITIONAL_OR_KEYWORD]
        star = [p for p in signature if p.kind is p.VAR_POSITIONAL]
        named = [p for p in signature if p.kind is p.KEYWORD_ONLY]
    if doc.partition(":")[0].strip() != name:
        raise OpError(f"{path}: the docstring must begin with '{name}: ' (the file's name is the operator's).")
    return Op(
        name=name,
        doc=doc,
        source=path,
        forward=forward,
        vjp=vjp,
        torch=getattr(module, "torch", None) if function is None else None,
        kinks=getattr(module, "kinks", None),
        ties=getattr(module, "ties", None),
        settled=getattr(module, "settled", None),
        drawn=getattr(module, "drawn", None),
        unfair=getattr(module, "unfair", None),
        conventions=getattr(module, "conventions", None),
        hidden=getattr(module, "hidden", None),
        held=getattr(module, "held", None),
        domain=getattr(module, "domain", None),
        independent=getattr(module, "independent", None),
        partials=getattr(module, "partials", None),
        tensors=tuple(p.name for p in (*positional, *star)),
        optional=frozenset(p.name for p in positional if p.default is not p.empty),
        variadic=bool(star),
        params={p.name: p.default for p in named},
        facts={fact: getattr(module, fact, default) for fact, default in FACTS.items()},
        traits=frozenset(map(Trait, _words(module, path, "TRAITS", Trait))),
        kinds=frozenset(map(Kind, (Kind.FLOAT, *_words(module, path, "KINDS", Kind)))),
        rows=_rows(module, alone=function is not None),
        reference=function,
    )


def _rows(module: ModuleType, *, alone: bool) -> dict[str, tuple[str, ...]]:
    """Rows by level; beside a function of PyTorch `rows` alone will do, of which the first is smoke."""
    given = tuple(getattr(module, "rows", ())) if alone else ()
    own = {level: tuple(getattr(module, level.upper(), ())) for level in LEVELS}
    return {**own, "smoke": (*own["smoke"], *given[:1]), "standard": (*own["standard"], *given[1:])}


def _words(module: ModuleType, path: Path, fact: str, known: type[StrEnum]) -> tuple[str, ...]:
    """The words of a fact. Raises OpError where they are none."""
    words = getattr(module, fact, ())
    if isinstance(words, str) or not set(words) <= set(known):
        raise OpError(f"{path}: {fact} is {words!r}; expected a tuple of words among {', '.join(known)}.")
    return tuple(words)
