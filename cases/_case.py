"""The record `Case` and its text form, which is its id.

    softmax[x=4x33;dim=-1;f32;fill=wide;layout=transposed]

The operator may be a graph: graph:linear_gelu[...], graph:relu(add(a,b))[...] (reference_ops/_graphs.py).
Grammar, parts separated by ';', in this order:

    tensor    name=4x33   name=33, (one axis)   name=0d (a scalar)   name=@other (the same tensor again)
    parameter name=value  integers, floats (always with '.', 'e', 'inf' or 'nan'), true, false, None,
                          tuples (1,2), bare words for strings
    dtype     f64, f32, f16, bf16, f8e4m3, f8e5m2, i8, i16, i32 or u8: that of tensors that hold data, not places
    mixed=    tensors that have another dtype, b:f16 or weight:f32,bias:f32; left out when all have one. Results
              keep the case's dtype, and so does the tensor that they are like; a gradient has that of its own tensor
    fill=     how values are drawn (cases/_fills/fills.py); left out when normal
    layout=   how tensors lie in memory (cases/_layouts.py); left out when contiguous
    into=     how results lie in memory, by the same words; left out when contiguous
    inplace=  the tensor in whose memory the first result lies; left out when it has memory of its own
    needs=    comma-separated inputs whose gradient is asked for; left out when all
    seed=     a number; left out when 0
    wrong=    what is wrong with the call, where it must be refused: NAME:VALUE, of the call that stands before it. A
              shape or a dtype of the tensor NAME, or an integer that the last of its places holds, an index; a value
              of the parameter NAME; dtype:i32 for all that holds data
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from opproof.core.dtypes import DTYPES
from opproof.core.errors import CaseError, suggest
from opproof.core.graph import PREFIX
from opproof.core.verdicts import Destination

Scalar: TypeAlias = int | float | bool | str | None
Param: TypeAlias = "Scalar | tuple[Param, ...]"
Shape: TypeAlias = tuple[int, ...]


_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_ID = re.compile(rf"({_NAME.pattern}|{PREFIX}[^\[\]]+)\[(.*)\]")
_WHOLE = re.compile(r"[+-]?\d+")
_TENSOR = re.compile(r"0d|\d+,|\d+(x\d+)+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9.+-]*|[a-z]*(,[a-z]*)*->[a-z]*")  # the second an equation of einsum
RESERVED = ("mixed", "fill", "layout", "into", "inplace", "needs", "seed", "wrong")


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to try. `str(case)` is its id and `Case.parse` reads it back."""

    op: str
    tensors: tuple[tuple[str, Shape | str], ...]  # a str names an earlier tensor, used again
    params: tuple[tuple[str, Param], ...] = ()
    dtype: str = "f32"
    mixed: tuple[tuple[str, str], ...] = ()  # tensors of another dtype
    fill: str = "normal"
    layout: str = "contiguous"
    into: str = "contiguous"
    inplace: str = ""
    needs: tuple[str, ...] | None = None
    seed: int = 0
    wrong: str = ""
    _text: str = field(default="", init=False, repr=False, compare=False)  # the id, once it was asked for

    def __str__(self) -> str:
        if not self._text:
            object.__setattr__(self, "_text", self._write_id())
        return self._text

    def _write_id(self) -> str:
        parts = [f"{name}={format_shape(shape)}" for name, shape in self.tensors]
        parts += [f"{name}={format_param(value)}" for name, value in self.params]
        parts.append(self.dtype)
        if self.mixed:
            parts.append("mixed=" + ",".join(f"{name}:{dtype}" for name, dtype in self.mixed))
        if self.fill != "normal":
            parts.append(f"fill={self.fill}")
        if self.layout != "contiguous":
            parts.append(f"layout={self.layout}")
        if self.into != "contiguous":
            parts.append(f"into={self.into}")
        if self.inplace:
            parts.append(f"inplace={self.inplace}")
        if self.needs is not None:
            parts.append(f"needs={','.join(self.needs)}")
        if self.seed:
            parts.append(f"seed={self.seed}")
        if self.wrong:
            parts.append(f"wrong={self.wrong}")
        return f"{self.op}[{';'.join(parts)}]"

    @property
    def shapes(self) -> dict[str, Shape]:
        """Shape of every tensor by name, aliases resolved."""
        found: dict[str, Shape] = {}
        for name, shape in self.tensors:
            found[name] = found[shape] if isinstance(shape, str) else shape
        return found

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes of its tensors, that of results first."""
        if not self.mixed:
            return (self.dtype,)
        return tuple(dict.fromkeys((self.dtype, *(dtype for _, dtype in self.mixed))))

    def dtype_of(self, name: str | None) -> str:
        """The dtype of the tensor `name`, where that holds data; None asks for that of results."""
        if not self.mixed:
            return self.dtype
        first = next((s for n, s in self.tensors if n == name and isinstance(s, str)), name)  # of what is given again
        return next((dtype for n, dtype in self.mixed if n == first), self.dtype)

    @property
    def uniform(self) -> Case:
        """The same case with one dtype for all."""
        return replace(self, mixed=())

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """What a backend must be able to do to write the results where the case has them."""
        if self.inplace:
            return (Destination.IN_PLACE,)
        return () if self.into == "contiguous" else (Destination.STRIDED,)

    @property
    def apart(self) -> Case:
        """The same case with results in memory of their own, row by row."""
        return replace(self, into="contiguous", inplace="")

    @property
    def kwargs(self) -> dict[str, Param]:
        """The parameters as keyword arguments."""
        return dict(self.params)

    def with_seed(self, seed: int) -> Case:
        """The same case with other data."""
        return replace(self, seed=seed)

    @classmethod
    def parse(cls, text: str) -> Case:
        """Read an id. Raises CaseError that says what was expected and what was found."""
        return _parse_id(text)


@functools.lru_cache(maxsize=256)  # a record reads its case more than once
def _parse_id(text: str) -> Case:
    match = _ID.fullmatch(text.strip())
    if not match:
        raise CaseError(f"malformed case id {text!r}: expected op[part;part;...], as in softmax[x=4x33;dim=-1;f32].")
    op, body = match.groups()
    tensors: list[tuple[str, Shape | str]] = []
    params: list[tuple[str, Param]] = []
    rest: dict[str, str] = {}
    taken: set[str] = set()
    for part in _split(body, ";"):
        name, equals, value = part.partition("=")
        if not equals and part in DTYPES:
            name, value = "dtype", part
        elif not equals or name == "dtype" or not _NAME.fullmatch(name) or not value:
            hint = suggest(part, DTYPES)
            raise CaseError(
                f"malformed part {part!r} in {text!r}: expected name=value or one of {', '.join(DTYPES)}{hint}"
            )
        if name in taken:
            raise CaseError(f"{name!r} stands twice in {text!r}.")
        taken.add(name)
        if name in RESERVED or name == "dtype":
            rest[name] = value
        elif _TENSOR.fullmatch(value) or value.startswith("@"):
            if value.startswith("@") and value[1:] not in {n for n, _ in tensors}:
                raise CaseError(f"{part!r} in {text!r} names no earlier tensor.")
            tensors.append((name, value[1:] if value.startswith("@") else parse_shape(value)))
        else:
            params.append((name, parse_param(value, text)))
    if "dtype" not in rest:
        raise CaseError(f"{text!r} names no dtype: expected one of {', '.join(DTYPES)} among its parts.")
    if not re.fullmatch(r"\d+", rest.get("seed", "0")):
        raise CaseError(f"seed={rest['seed']} in {text!r}: expected an integer of 0 or more.")
    return Case(
        op=op,
        tensors=tuple(tensors),
        params=tuple(params),
        dtype=rest["dtype"],
        mixed=_parse_mixed(rest["mixed"], tensors, rest["dtype"], text) if "mixed" in rest else (),
        fill=rest.get("fill", "normal"),
        layout=rest.get("layout", "contiguous"),
        into=rest.get("into", "contiguous"),
        inplace=rest.get("inplace", ""),
        needs=tuple(rest["needs"].split(",")) if "needs" in rest else None,
        seed=int(rest.get("seed", "0")),
        wrong=rest.get("wrong", ""),
    )


def _parse_mixed(
    listed: str, tensors: Sequence[tuple[str, Shape | str]], dtype: str, text: str
) -> tuple[tuple[str, str], ...]:
    """The tensors of another dtype, in the order of the case. Raises CaseError."""
    own = {name for name, shape in tensors if not isinstance(shape, str)}
    found: dict[str, str] = {}
    for part in listed.split(","):
        name, _, other = part.partition(":")
        if name not in own or name in found:
            raise CaseError(
                f"mixed={listed} in {text!r}: {name!r} is no tensor that can have a dtype of its own; expected one of "
                f"{', '.join(sorted(own)) or 'none'}, once, with its dtype: mixed=NAME:f16."
            )
        if other not in DTYPES or DTYPES[other].whole or DTYPES[dtype].whole:
            floats = ", ".join(word for word, kind in DTYPES.items() if not kind.whole)
            raise CaseError(f"mixed={listed} in {text!r}: expected dtypes of floats, {floats}, beside one of these.")
        found[name] = other
    return tuple((name, found[name]) for name, _ in tensors if found.get(name, dtype) != dtype)


def format_shape(shape: Shape | str) -> str:
    """4x33, '33,' for one axis, '0d' for a scalar, '@a' for tensor a again."""
    if isinstance(shape, str):
        return f"@{shape}"
    if not shape:
        return "0d"
    return f"{shape[0]}," if len(shape) == 1 else "x".join(map(str, shape))


@functools.lru_cache(maxsize=4096)
def parse_shape(text: str) -> Shape:
    """The inverse of `format_shape`."""
    return () if text == "0d" else tuple(int(n) for n in text.rstrip(",").split("x"))


def format_param(value: Param) -> str:
    """A parameter as it stands in an id; floats always differ from integers."""
    if isinstance(value, tuple):
        return f"({','.join(map(format_param, value))})"
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value)


def parse_param(text: str, where: str) -> Param:
    """The inverse of `format_param`. Raises CaseError that quotes `where`."""
    if text.startswith("(") and text.endswith(")"):
        inner = text[1:-1]
        return tuple(parse_param(t, where) for t in _split(inner, ",")) if inner else ()
    if text in ("true", "false", "None"):
        return {"true": True, "false": False, "None": None}[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        value = float(text)
    except ValueError:
        pass
    else:
        return math.nan if math.isnan(value) else value  # one object, so that equal ids make equal cases
    if not _WORD.fullmatch(text):
        raise CaseError(
            f"malformed value {text!r} in {where!r}: expected a number, true, false, None, a tuple or a word."
        )
    return text


def _split(text: str, separator: str) -> list[str]:
    """Split at separators outside parentheses."""
    if "(" not in text and ")" not in text:
        return text.split(separator)
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]
