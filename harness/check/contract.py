"""What a kernel promises otherwise than PyTorch's functional operators do: declared, and tested as declared.

Without a declaration inputs stay as they are, gradients come for all that are asked for, as often as they are asked
for, and every size is answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from opproof.core.errors import UsageError, suggest
from opproof.harness.check.tensors import CallTensor
from opproof.harness.reference.roundoff import COMPUTE_U

#: The name under which the cotangents that a backward is given are declared to be overwritten, and their position.
GRAD = "grad"
GRAD_POSITION = -1
#: A declared lower precision of all results, or by the name of an output (y0) or of an argument's gradient.
Precision: TypeAlias = str | Mapping[str, str | None] | None
#: One group of axes of a signature, as of NumPy's generalised functions.
_GROUP = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True)
class Contract:
    """The declarations of one check; sizes are called by a name of `signature`, or by argument and axis ("x.-1")."""

    inplace: tuple[str, ...] = ()  # arguments that hold the results, in the order of outputs
    overwrites: tuple[str, ...] = ()  # arguments, or GRAD, that may hold anything afterwards
    backwards: int | None = None  # so many of one forward count
    multiple_of: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    grads: Mapping[str, None] = field(default_factory=dict)  # arguments that never get a gradient
    signature: str = ""  # "(batch,hidden),(hidden)"

    @property
    def given(self) -> dict[str, Any]:
        """What is declared, by the names of the options."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name))}

    @property
    def writes(self) -> bool:
        """Whether it lets anything be written."""
        return bool(self.inplace or self.overwrites)

    def find_positions(self, names: Sequence[str], tensors: Sequence[CallTensor]) -> tuple[int, ...]:
        """The positions of tensors that these names stand for, in the order of the names."""
        is_free = GRAD in names and not any(is_part_of(t.name, GRAD) for t in tensors)  # as no argument is called
        found = (i for name in names for i, t in enumerate(tensors) if is_part_of(t.name, name))
        return (*found, *((GRAD_POSITION,) if is_free else ()))

    def require_names(
        self, names: Sequence[str], tensors: Sequence[CallTensor], count: int, compute: Precision
    ) -> None:
        """Raise UsageError for a name of no argument, or of no size; `names`: of all arguments; `count`: of outputs."""
        arguments, results = [*dict.fromkeys((*names, *(t.name for t in tensors)))], [f"y{k}" for k in range(count)]
        of_compute = () if isinstance(compute, str | None) else tuple(compute)
        for option, some, known in (
            ("inplace", self.inplace, arguments),
            ("overwrites", self.overwrites, [*arguments, GRAD]),
            ("grads", tuple(self.grads), arguments),
            ("compute", of_compute, [*results, *arguments]),
        ):
            wrong = (name for name in some if not any(is_part_of(one, name) for one in known))
            if (name := next(wrong, None)) is not None:
                raise UsageError(f"{option} names {name!r}: expected some of {', '.join(known)}{suggest(name, known)}")
        if (held := len(self.find_positions(self.inplace, tensors))) > count:
            raise UsageError(f"inplace={self.inplace} holds {held} results: the reference has {count}.")
        given = [t for t in tensors if not t.param]
        if self.signature and len(self._groups) != len(given):
            raise UsageError(f"signature={self.signature!r} has {len(self._groups)} groups: expected {len(given)}.")
        for names_of_axes, t in zip(self._groups, given, strict=False):
            if not _fits(names_of_axes, t):
                axes = f"{len(names_of_axes)} axes: expected {len(t.shape)}, or '...' in the place of the first"
                raise UsageError(f"signature={self.signature!r} gives {t.name} {axes}.")
        for key in (*self.multiple_of, *self.sizes):
            if not self.find_axes(key, tensors):
                raise UsageError(
                    f"there is no size {key!r}: expected an argument and its axis, such as '{given[0].name}.-1', or a "
                    "name of the signature, as in signature='(batch,hidden),(hidden)'."
                )

    def require_sizes(self, tensors: Sequence[CallTensor]) -> None:
        """Raise UsageError where inputs that were given have sizes that are to be refused."""
        if text := self.describe_refusal(tensors):
            raise UsageError(f"inputs has what its contract refuses: {text}.")

    def describe_refusal(self, tensors: Sequence[CallTensor]) -> str:
        """Why tensors are not to be answered; empty where they are."""
        for option, key, takes in self._list_conditions():
            places = self.find_axes(key, tensors)
            wrong = (n for n in dict.fromkeys(tensors[i].shape[axis] for i, axis in places) if not takes(n))
            if (n := next(wrong, None if places else "no axis there")) is not None:
                return f"{key} is {n}, and {option}={getattr(self, option)} is declared"
        return ""

    def list_other_sizes(self, tensors: Sequence[CallTensor]) -> list[tuple[int, int]]:
        """Sizes as given, each with another that is to be answered."""
        found = []
        for key, n in self._find_sizes(tensors).items():
            step, some = self.multiple_of.get(key), self.sizes.get(key, ())
            wanted = some or (() if step is None else (n + step, n - step, n + 2 * step))
            found += [(n, m) for m in wanted if m not in (n, 0) and m % (step or 1) == 0]
        return list(dict.fromkeys(found))

    def list_restricted_sizes(self, tensors: Sequence[CallTensor]) -> frozenset[float]:
        """Sizes as given that no rule of other sizes may change."""
        return frozenset(map(float, self._find_sizes(tensors).values()))

    @property
    def _groups(self) -> list[list[str]]:
        return [[name.strip() for name in group.split(",")] for group in _GROUP.findall(self.signature)]

    def find_axes(self, key: str, tensors: Sequence[CallTensor]) -> list[tuple[int, int]]:
        """Where a size is, by tensor and axis; in a signature behind "..." axes are counted from the last."""
        given = [(i, t) for i, t in enumerate(tensors) if not t.param]
        pairs = [(i, t, names) for (i, t), names in zip(given, self._groups, strict=False) if _fits(names, t)]
        found = [(i, k - len(names) + len(t.shape)) for i, t, names in pairs for k, n in enumerate(names) if n == key]
        name, _, axis = key.rpartition(".")
        if re.fullmatch(r"-?\d+", axis):
            found += [(i, int(axis)) for i, t in given if t.name == name and -len(t.shape) <= int(axis) < len(t.shape)]
        return found

    def _find_sizes(self, tensors: Sequence[CallTensor]) -> dict[str, int]:
        places = {key: self.find_axes(key, tensors)[0] for key in (*self.multiple_of, *self.sizes)}
        return {key: tensors[i].shape[axis] for key, (i, axis) in places.items()}

    def _list_conditions(self) -> Iterator[tuple[str, str, Callable[[int], bool]]]:
        for key, step in self.multiple_of.items():
            yield "multiple_of", key, lambda n, step=step: n > 0 and n % step == 0  # type: ignore[misc]
        for key, some in self.sizes.items():
            yield "sizes", key, some.__contains__


def is_part_of(name: str, argument: str) -> bool:
    """Whether a tensor of this name is an argument, or lies in one (`params.gate.weight` in `params`)."""
    return name == argument or name.startswith(f"{argument}.")


def _fits(names: Sequence[str], t: CallTensor) -> bool:
    """Whether a tensor has the axes of a group of a signature."""
    return len(names) == len(t.shape) or (names[:1] == ["..."] and len(names) - 1 <= len(t.shape))


def make_contract(**options: Any) -> Contract:
    """The contract of options, None or empty where one is not declared. Raises UsageError where they make no sense."""
    given = {name: value for name, value in options.items() if value is not None}
    for option in ("inplace", "overwrites"):
        value = given.get(option, ())
        names = given[option] = (value,) if isinstance(value, str) else tuple(value) if _is_list(value) else (None,)
        if not all(isinstance(name, str) for name in names):
            raise UsageError(f"{option}={value!r}: expected names of arguments, as ('x',).")
    for option in ("multiple_of", "sizes", "grads"):
        if not isinstance(given.get(option, {}), Mapping):
            raise UsageError(f"{option}={given[option]!r}: expected a dict, as {_EXAMPLES[option]}.")
    for key, step in given.get("multiple_of", {}).items():
        if not _is_size(step):
            raise UsageError(f"multiple_of={given['multiple_of']!r}: expected a whole number from 1 on for {key!r}.")
    if "sizes" in given:
        given["sizes"] = {key: tuple(some) if _is_list(some) else (some,) for key, some in given["sizes"].items()}
    contract = Contract(**given)
    if wrong := _describe_contradiction(contract):
        raise UsageError(wrong)
    return contract


def list_precisions(compute: Precision, names: Sequence[str]) -> str | tuple[str | None, ...] | None:
    """The precision of each result of these names, or the one that all have."""
    if isinstance(compute, str | None):
        return compute
    some = tuple(next((word for name, word in compute.items() if is_part_of(n, name)), None) for n in names)
    return some if len({*some}) > 1 else some[0]


def require_precision(compute: Precision) -> None:
    """Raise UsageError for a precision that nobody knows."""
    words = ("storage", *COMPUTE_U)
    for word in [compute] if isinstance(compute, str | None) else compute.values():
        if word is not None and word not in words:
            raise UsageError(f"compute={compute!r}: expected {', '.join(words)}{suggest(str(word), words)}")


_EXAMPLES = {"multiple_of": "{'x.-1': 1024}", "sizes": "{'x.-1': (64, 128)}", "grads": "{'cos': None}"}


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _describe_contradiction(contract: Contract) -> str:
    both = [name for name in contract.inplace if name in contract.overwrites]
    if both:
        return f"{both[0]!r} is in inplace, to hold a result, and in overwrites, to hold anything: leave one out."
    if contract.backwards not in (None, 1):
        return f"backwards={contract.backwards!r}: expected 1, where only the first backward counts, or None."
    if wrong := next((name for name, value in contract.grads.items() if value is not None), None):
        return f"grads={dict(contract.grads)}: expected None for {wrong!r}, which says that it never gets a gradient."
    for key, some in contract.sizes.items():
        if not some or not all(map(_is_size, some)):
            return f"sizes={dict(contract.sizes)}: expected whole numbers from 1 on for {key!r}."
        step = contract.multiple_of.get(key, 1)
        if other := next((n for n in some if n % step), None):
            return f"sizes allows {other} for {key!r}, which is no multiple of {step}, as multiple_of has it."
    return ""
