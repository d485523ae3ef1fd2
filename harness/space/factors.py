"""Factors: what selects code in real kernels, and the levels of each, for one form of one operator.

Sizes, layouts, fills and destinations are the same for all operators; parameters, optional tensors, dtypes and which
gradients are asked for come from the operator and from the rows of its file.

`(...,n),(n)?` has leading axes and an optional second tensor, `(m,k),(k,n) | (n),(m,k)` two forms. An axis may be a
sum or a product of names, parameters and numbers (`num_groups*c`), and a name may be bounded where it first stands
(`kh<8`). Parameters that follow from sizes stand behind a semicolon: `(...,n),(n); normalized_shape=(n,)`.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from opproof.cases import Case
from opproof.cases._case import Param, Shape, format_param
from opproof.cases._fills.fills import ALIKE, HIDDEN, REPORTS
from opproof.cases._fills.integers import INTEGER_FILLS
from opproof.cases._layouts import LAYOUTS
from opproof.core.dtypes import FLOATS
from opproof.core.errors import OpError
from opproof.reference_ops import Op

#: A place of a size: a tensor's name and an axis counted from its last.
Place = tuple[str, int]
#: What stands for any number of axes.
ELLIPSIS = "..."
#: The signature of an operator whose shapes no names describe.
NONE = "none"
#: Names in an axis that a type of block-quantised numbers gives: values and bytes of a block.
BLOCK_NAMES = ("block", "size")

_ARITHMETIC: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv,
    ast.Gt: operator.gt,
}
_FORM = re.compile(r"\s*((?:\([^()]*\)[?*]?,?)+)((?:;[^|]*)*)\s*")
_OPERAND = re.compile(r"\(([^()]*)\)([?*]?)")


#: Sizes by class. A name that ends in ± has what is near, and a multiple of nothing.
SIZES: Mapping[str, tuple[int, ...]] = {
    "1": (1,),
    "few": (2, 3, 4, 5, 6, 7, 9),
    "16": (16, 8, 24, 32),
    "16±": (15, 17, 19, 13, 31),
    "64": (64, 48, 80, 96),
    "64±": (63, 65, 67, 61, 79),
    "128": (128, 160, 192),
    "128±": (127, 129, 100, 131),
    "256": (256, 320, 512, 384),
    "256±": (257, 255, 263, 270),
    "1k": (1024, 1280, 2048),
    "1k±": (1025, 1023, 1031, 1500),
    "4k": (4096, 5120, 8192),
    "4k±": (4097, 4095, 4099, 5000),
    "64k": (65536, 66560),
    "64k±": (65537, 65535, 65539, 70001),
}
#: All sizes of a class, but for the largest, which has no end.
CLASSES: Mapping[str, range] = {
    "1": range(1, 2), "few": range(2, 10), "16": range(10, 41), "64": range(41, 100), "128": range(100, 224),
    "256": range(224, 720), "1k": range(720, 3000), "4k": range(3000, 20000),
}  # fmt: skip
#: What whole sizes are multiples of.
WHOLE = 8
#: The classes of axes that stand before others: fewer, as they are many.
LEADING_SIZES = ("1", "few", "16", "16±", "256", "256±", "64k", "64k±")
#: The level of an axis that a case does not have.
ABSENT = "none"
#: Names of the axes that an ellipsis stands for, counted from the last.
LEADING = ("lead0", "lead1", "lead2", "lead3")
#: Fills that any operator of floats is tried with.
BASIC_FILLS = ("normal", "wide", "small", "positive", "negative", "zeros", "huge", "outliers")
#: Fills whose sums are exact in tensors of few numbers alone: rows have them.
EXACT_FILLS = ("exact", "signs")
#: How tensors that broadcast differ in their axes, the last of them against the first.
_SECOND = ("second scalar", "second row", "second channel", "second last 1", "second first 1")
BROADCASTS = ("alike", *_SECOND, "first last 1", "first scalar")
#: Numbers of tensors of an operator that takes any.
COUNTS = ("1", "2", "3", "4", "5", "8", "9")
#: Pairs of dtypes that are levels beside single ones: backends that take them are few.
MAX_MIXED_LEVELS = 1
#: Most levels of a parameter: those that its rows have most often.
MAX_PARAM_LEVELS = 6
#: The level of a parameter that is left out.
DEFAULT = "default"
#: Axes that a layout needs for it to differ from contiguous.
AXES_NEEDED = {"contiguous": 0, "offset": 0, "transposed": 2, "middle": 4, "planes": 4}
AXES_NEEDED |= dict.fromkeys(("exchanged", "channels", "cropped"), 3)
_PLAIN_FILL = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True)
class Operand:
    """A tensor of a form: its name, its axes as expressions, and whether it may be left out."""

    name: str
    axes: tuple[str, ...]
    optional: bool = False

    @property
    def has_leading(self) -> bool:
        """Whether some of its axes are those that ELLIPSIS stands for."""
        return ELLIPSIS in self.axes


@dataclass(frozen=True)
class SignatureForm:
    """One way to call an operator: operands, the bounds of names, and the parameters that sizes decide."""

    operands: tuple[Operand, ...]
    bounds: tuple[tuple[str, int], ...]  # expression, which its value stays below
    bindings: tuple[tuple[str, str], ...]  # parameter, expression
    variadic: bool

    def list_sizes(self, params: Iterable[str]) -> list[str]:
        """The names of sizes, in order of appearance, parameters left out."""
        texts = [axis for operand in self.operands for axis in operand.axes if axis != ELLIPSIS]
        words = [w for text in (*texts, *(e for _, e in self.bindings)) for w in re.findall(r"[A-Za-z_]\w*", text)]
        return [w for w in dict.fromkeys(words) if w not in {*params, *BLOCK_NAMES}]


def name_axes(case: Case, form: SignatureForm) -> dict[Place, str] | None:
    """The name, or the expression, of each axis by a form of the signature; None where the case is not of this form."""
    operands = {operand.name: operand for operand in form.operands}
    shapes = case.shapes
    if form.variadic:
        operands = dict.fromkeys(shapes, form.operands[0])
    if not shapes.keys() <= operands.keys() or any(n not in shapes and not o.optional for n, o in operands.items()):
        return None
    found: dict[Place, str] = {}
    for name, shape in shapes.items():
        axes = operands[name].axes
        more = len(shape) - len(axes) + (ELLIPSIS in axes)
        if more < 0 or (more and ELLIPSIS not in axes):
            return None
        before = axes.index(ELLIPSIS) if ELLIPSIS in axes else len(axes)
        said = (*axes[:before], *(f"lead{k}" for k in reversed(range(more))), *axes[before + 1 :])
        found |= {(name, i - len(shape)): text for i, text in enumerate(said)}
    return found


def evaluate_size(text: str, sizes: Mapping[str, Any]) -> Any:
    """The value of an expression of sizes. Raises OpError for a name or a notation that is unknown."""
    return _evaluate(_parse(text), text, sizes)


@functools.cache
def _parse(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _evaluate(node: ast.AST, text: str, sizes: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in sizes:
        return sizes[node.id]
    if isinstance(node, ast.Tuple):
        return tuple(_evaluate(part, text, sizes) for part in node.elts)
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        return _ARITHMETIC[type(node.op)](_evaluate(node.left, text, sizes), _evaluate(node.right, text, sizes))
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _ARITHMETIC:
        return _ARITHMETIC[type(node.ops[0])](
            _evaluate(node.left, text, sizes), _evaluate(node.comparators[0], text, sizes)
        )
    raise OpError(f"signature: {text!r} is no expression of {', '.join(sizes) or 'no sizes'}.")


def forms_of(op: Op) -> list[SignatureForm]:
    """The forms of an operator's signature. Raises OpError where it is malformed.

    There is none where the signature is NONE. Without a signature each tensor of an operator of one tensor, and of a
    pointwise one, is `(...)`; there is none of an operator of several others.
    """
    if op.signature == NONE:
        return []
    if op.signature:
        return [_read_form(op, text) for text in op.signature.split(" | ")]
    if op.tensors and (len(op.tensors) == 1 or "pointwise" in op.traits) and not op.variadic:
        operands = tuple(Operand(name, (ELLIPSIS,), name in op.optional) for name in op.tensors)
        return [SignatureForm(operands, (), (), variadic=False)]
    return []


def _read_form(op: Op, text: str) -> SignatureForm:
    match = _FORM.fullmatch(text)
    found = _OPERAND.findall(match.group(1)) if match else []
    if not match or len(found) > len(op.tensors):
        raise OpError(f"{op.name}: malformed signature {text!r}; expected one group of axes for each of {op.tensors}.")
    operands, bounds = [], []
    for name, (inside, mark) in zip(op.tensors, found, strict=False):
        axes = []
        for axis in filter(None, inside.split(",")):
            expression, _, bound = axis.partition("<")
            axes.append(expression.strip())
            if bound:
                bounds.append((expression.strip(), int(bound)))
        operands.append(Operand(name, tuple(axes), mark == "?"))
    bindings = [part.partition("=") for part in match.group(2).split(";") if part.strip()]
    return SignatureForm(
        tuple(operands),
        tuple(bounds),
        tuple((name.strip(), value.strip()) for name, _, value in bindings),
        variadic=any(mark == "*" for _, mark in found),
    )


@dataclass(frozen=True)
class Space:
    """The factors of one form of one operator, each with its levels, and what the levels of parameters stand for."""

    op: Op
    form: SignatureForm
    factors: Mapping[str, tuple[str, ...]]
    values: Mapping[tuple[str, str], Param]  # of a parameter's level

    @functools.cached_property
    def leading(self) -> tuple[str, ...]:
        """The factors of its leading axes, counted from the last."""
        return tuple(name for name in self.factors if name[:9] == "size lead")

    @functools.cached_property
    def axes(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """Of each tensor whether it has leading axes, 1 or 0, and the names of the sizes in its other axes."""
        known = {name.partition(" ")[2] for name in self.factors if name.startswith("size ")}
        return tuple(
            (int(o.has_leading), tuple(w for axis in o.axes for w in re.findall(r"[A-Za-z_]\w*", axis) if w in known))
            for o in self.form.operands
        )


def make_space(op: Op, form: SignatureForm, rows: Iterable[Case], others: Iterable[Case] | None = None) -> Space:
    """The factors of a form of an operator; of cases of its file, or of `others`, parameters have their levels."""
    known = list(rows)
    given = known if others is None else list(others)
    factors: dict[str, tuple[str, ...]] = {"dtype": _list_dtypes(known)}
    for name in form.list_sizes(op.params):
        factors[f"size {name}"] = _list_classes(form, name)
    is_bare = all(axis == ELLIPSIS for operand in form.operands for axis in operand.axes)
    has_leading = any(operand.has_leading for operand in form.operands)
    for k, name in enumerate(LEADING[: len(LEADING) - (not is_bare)] if has_leading else ()):
        classes = tuple(SIZES) if k == 0 and is_bare else LEADING_SIZES
        factors[f"size {name}"] = (ABSENT, *classes)
    values: dict[tuple[str, str], Param] = {}
    bound = {name for name, _ in form.bindings}
    for name in op.params:
        if name not in bound:
            levels = _list_values(name, given)
            if len(levels) > 1 or DEFAULT not in levels:
                factors[f"param {name}"] = tuple(levels)
                values |= {(name, level): value for level, value in levels.items()}
    for operand in form.operands:
        if operand.optional:
            factors[f"with {operand.name}"] = ("yes", "no")
        if operand.axes:
            factors[f"layout {operand.name}"] = tuple(LAYOUTS)
    again = _list_repeated(op, form, known)
    factors["fill"] = (*_list_fills(known), *([ALIKE] if again else []))
    if "broadcasts" in op.traits and len(form.operands) > 1 and not op.signature:
        factors["broadcast"] = BROADCASTS
    if form.variadic:
        factors["count"] = COUNTS
    if needs := _list_needs(known, form):
        factors["needs"] = ("all", *needs)
    if again:
        factors["again"] = ("no", *again)
    return Space(op, form, factors, values)


def _list_classes(form: SignatureForm, name: str) -> tuple[str, ...]:
    """The classes of a named size, below its bound where it has one."""
    bound = min((b for text, b in form.bounds if re.search(rf"\b{name}\b", text)), default=1 << 62)
    return tuple(level for level, sizes in SIZES.items() if min(sizes) < bound)


def _list_dtypes(rows: Iterable[Case]) -> tuple[str, ...]:
    """The dtypes of its rows, and pairs of dtypes that these have, most frequent first."""
    found = Counter(" ".join((case.dtype, *(f"{name}:{dtype}" for name, dtype in case.mixed))) for case in rows)
    plain = [level for level in found if " " not in level]
    mixed = [level for level, _ in found.most_common() if " " in level]
    return (*plain, *mixed[:MAX_MIXED_LEVELS])


def _list_values(name: str, rows: Iterable[Case]) -> dict[str, Param]:
    """The levels of a parameter by their text; that of its default stands for leaving it out."""
    found: Counter[str] = Counter()
    values: dict[str, Param] = {}
    for case in rows:
        given = case.kwargs
        text = format_param(given[name]) if name in given else DEFAULT
        values[text] = given.get(name)
        found[text] += 1
    return {text: values[text] for text, _ in found.most_common(MAX_PARAM_LEVELS)}


def _list_fills(rows: Iterable[Case]) -> tuple[str, ...]:
    """The fills of its rows, and the basic ones where any row has floats of its own."""
    known = list(rows)
    seen = dict.fromkeys(case.fill for case in known)
    basic = BASIC_FILLS if any(case.dtype in FLOATS for case in known) else INTEGER_FILLS
    usual = [f for f in seen if _PLAIN_FILL.fullmatch(f) and f not in REPORTS and not f.startswith("every")]
    usual = [f for f in usual if f not in EXACT_FILLS]
    return tuple(dict.fromkeys([*usual, *(f for f in BASIC_FILLS if f in basic and f not in HIDDEN)]))


def _list_needs(rows: Iterable[Case], form: SignatureForm) -> list[str]:
    """Single tensors whose gradient alone its rows ask for."""
    names = {operand.name for operand in form.operands}
    return list(
        dict.fromkeys(c.needs[0] for c in rows if c.needs is not None and len(c.needs) == 1 and c.needs[0] in names)
    )


def _list_repeated(op: Op, form: SignatureForm, rows: Iterable[Case]) -> list[str]:
    """Tensors that may be the first one again: of the same axes, meant for the same numbers, and nowhere on a kink."""
    first = form.operands[0]
    if op.kinks is not None:  # between gradients that add up there
        return []
    domains = [dict(op.domain(case.shapes, **case.kwargs)) for case in rows] if op.domain else []
    return [
        o.name
        for o in form.operands[1:]
        if o.axes == first.axes and not o.optional and all(d.get(o.name) == d.get(first.name) for d in domains)
    ]


def has_effect(layout: str, shape: Shape) -> bool:
    """Whether a tensor of this shape lies otherwise under `layout` than row by row."""
    if layout == "loose":
        return 1 in shape and len(shape) > 1
    return len(shape) >= AXES_NEEDED.get(layout, 1)
