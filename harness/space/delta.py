"""Which levels of its factors a failing case needs to fail: neighbours that differ from it in one, called in turn.

A level that can be replaced by the plainest one is not needed and stays replaced; of one that cannot both sides are
told. Of a size it is told from where on it fails, or of what it is a multiple, or none.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from opproof.cases import Case
from opproof.cases._case import format_param
from opproof.cases._layouts import layouts_of, write_layouts
from opproof.core.bisection import bisect
from opproof.harness.space.factors import Place, forms_of, name_axes
from opproof.harness.space.shrink import (
    is_valid,
    list_removable,
    make_allowed_test,
    map_shapes,
    remove_parameter,
    remove_tensor,
    replace_size,
)
from opproof.reference_ops import Op

#: Most calls that are spent on one failing case.
MAX_CALLS = 30
#: Other numbers with which the neighbour of a shorter axis has to pass too.
OTHER_SEEDS = (1, 2, 3)
#: What takes the place of a size: an odd number, then where the reference refuses it others.
PLAIN_SIZES = (3, 2, 4, 1)
#: The least size at which kernels have a whole tile, and one more.
TILE = 16
#: Sizes are compared with the next multiple of this: of any width that vectors and tiles have.
WIDEST_TILE = 256
#: How far apart sizes are that an operator takes beside each other.
_UNITS = (1, 2, 3, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Delta:
    """What a failing case needs, and what passes instead of it, one said for each."""

    needed: tuple[str, ...]
    passing: tuple[str, ...]
    smallest: Case

    def __str__(self) -> str:
        """One sentence."""
        if not self.needed:
            return f"fails in its plainest form too, {self.smallest}"
        return f"fails where {' and '.join(self.needed)}; passes {', '.join(self.passing)}"


class OutOfCallsError(Exception):
    """No more neighbours may be called."""


class _Neighbours:
    """Calls of neighbours, each once, while there are any left: whether they fail, None where they are no cases."""

    def __init__(self, case: Case, op: Op | None, fails: Callable[[Case], bool | None]) -> None:
        self.fails, self.op, self.calls = fails, op, 0
        self.known: dict[Case, bool | None] = {case: True}
        self.allowed = make_allowed_test(case, op) if op else None

    def ask(self, case: Case) -> bool | None:
        """Whether the case fails. Raises OutOfCallsError."""
        if case in self.known:
            return self.known[case]
        if self.op and self.allowed and not (self.allowed(case) and is_valid(case, self.op)):
            return None
        if self.calls >= MAX_CALLS:
            raise OutOfCallsError
        self.calls += 1
        self.known[case] = self.fails(case)
        return self.known[case]

    def passes_with_other_numbers(self, case: Case, seeds: Sequence[int] = OTHER_SEEDS[:1]) -> bool:
        """Whether a case that passes does so by more than chance. Raises OutOfCallsError."""
        return all(self.ask(case.with_seed(case.seed + n)) is not True for n in seeds)


def find_delta(case: Case, op: Op | None, fails: Callable[[Case], bool | None]) -> Delta | None:
    """What `case`, which fails, needs to fail; None where that takes too many calls.

    Without an operator it stands for a call of any function. `fails` is called on neighbours. It says None of one of
    which nothing is known, and may raise OutOfCallsError.
    """
    neighbours = _Neighbours(case, op, fails)
    told: list[tuple[str, str]] = []
    try:
        for kind in (_iter_plainer, _iter_without_tensors):
            for said, instead, change in kind(case, op):
                plainer = change(case)
                found = neighbours.ask(plainer) if plainer != case else None
                if found:
                    case = plainer
                elif found is False and neighbours.passes_with_other_numbers(plainer):
                    told.append((said, instead))
        for places in list_sizes(case, op):
            case, found_of_size = _reduce_size(case, places, neighbours)
            told += [found_of_size] if found_of_size is not None else []
    except OutOfCallsError:
        return None
    return Delta(tuple(said for said, _ in told), tuple(instead for _, instead in told), case)


def _iter_plainer(case: Case, op: Op | None) -> Iterator[tuple[str, str, Callable[[Case], Case]]]:
    """For each level that is not the plainest: its words, those of the plainest, and the change to that."""
    if case.dtype != "f32":
        yield f"the dtype is {case.dtype}", "in f32", lambda c: replace(c, dtype="f32")
    if case.mixed:
        said = ", ".join(f"{name} in {dtype}" for name, dtype in case.mixed)
        yield said, "in one dtype", lambda c: c.uniform
    if case.fill != "normal":
        yield f"fill={case.fill}", "with fill=normal", lambda c: replace(c, fill="normal")
    for name, layout in layouts_of(case).items():
        if layout != "contiguous":
            yield f"{name} is {layout}", f"with {name} contiguous", functools.partial(_with_contiguous, name)
    for name, given in case.tensors:
        if isinstance(given, str):
            yield f"{name} is {given}", f"with {name} apart", functools.partial(_with_own_memory, name)
    if case.into != "contiguous":
        yield f"the result is {case.into}", "with a contiguous result", lambda c: replace(c, into="contiguous")
    if case.inplace:
        yield f"the result is in {case.inplace}", "with a result of its own", lambda c: replace(c, inplace="")
    if case.needs is not None:
        said = f"only {', '.join(case.needs)} take{'s' if len(case.needs) == 1 else ''} a gradient"
        yield said, "with all gradients", lambda c: replace(c, needs=None)
    defaults = op.params if op else {}
    for name, value in case.params:
        default = defaults.get(name, inspect.Parameter.empty)
        if default is not inspect.Parameter.empty:
            said = f"{name}={format_param(value)}"
            yield said, f"with {name}={format_param(default)}", functools.partial(remove_parameter, name=name)


def _iter_without_tensors(case: Case, op: Op | None) -> Iterator[tuple[str, str, Callable[[Case], Case]]]:
    if op is None:
        return
    given, layouts = dict(case.tensors), layouts_of(case)
    for name in list_removable(case, op):
        if name in op.optional and not isinstance(given[name], str) and layouts[name] == "contiguous":
            yield f"{name} is given", f"without {name}", functools.partial(remove_tensor, name=name)


def _with_contiguous(name: str, case: Case) -> Case:
    return replace(case, layout=write_layouts({**layouts_of(case), name: "contiguous"}))


def _with_own_memory(name: str, case: Case) -> Case:
    """The case whose tensor `name`, which is another one again, has numbers of its own."""
    return replace(case, tensors=tuple((n, case.shapes[n] if n == name else given) for n, given in case.tensors))


def list_sizes(case: Case, op: Op | None) -> list[list[Place]]:
    """Places of sizes that change together, the largest first: of one name in the signature, else all of one size."""
    names = next(filter(None, (name_axes(case, form) for form in (forms_of(op) if op else ()))), {})
    found: dict[object, list[Place]] = {}
    for name, shape in case.shapes.items():
        for axis, size in enumerate(shape):
            if size > max(PLAIN_SIZES):
                place = (name, axis - len(shape))
                found.setdefault((names.get(place, ""), size), []).append(place)
    return sorted(found.values(), key=lambda places: -_size_at(case, places))


def _size_at(case: Case, places: Iterable[Place]) -> int:
    name, axis = next(iter(places))
    return case.shapes[name][axis]


def _resize(case: Case, places: Iterable[Place], new: int) -> Case:
    """The case with another size in these places, and in parameters that have the old one."""
    old, chosen = _size_at(case, places), set(places)
    changed = map_shapes(
        case, lambda name, s: tuple(new if (name, i - len(s)) in chosen else n for i, n in enumerate(s))
    )
    return replace(changed, params=tuple((name, replace_size(v, old, new)) for name, v in changed.params))


def _reduce_size(case: Case, places: list[Place], neighbours: _Neighbours) -> tuple[Case, tuple[str, str] | None]:
    """The case with the least size found there that fails, and what of the size it needs, with what passes."""
    (name, axis), size = places[0], _size_at(case, places)
    where = f"axis {axis} of {name}"

    def fails(n: int) -> bool | None:
        return neighbours.ask(_resize(case, places, n))

    plain = next((n for n in PLAIN_SIZES if fails(n) is not None), None)
    if plain is None:
        return case, None
    if fails(plain):
        smaller = _resize(case, places, plain)
        return smaller, _describe_small(where, size, plain, fails)
    if not neighbours.passes_with_other_numbers(_resize(case, places, plain), OTHER_SEEDS):
        return case, None
    least, said, passing = _describe_large(size, plain, fails)
    return _resize(case, places, least), (f"{where} {said}", f"at {passing}")


def _describe_small(where: str, size: int, plain: int, fails: Callable[[int], bool | None]) -> tuple[str, str] | None:
    """What a size needs that fails though it is small: nothing, an upper end, or to be no multiple."""
    if fails(TILE) is not False:
        return None
    if size > TILE or fails(TILE + 1):
        step = next((k for k in (2, 4, 8) if k > plain and fails(k) is False), TILE)
        return f"{where} is no multiple of {step}", f"at {step}"
    end = bisect(plain, TILE, lambda n: bool(fails(n)))
    return f"{where} is at most {end}", f"at {end + 1}"


def _describe_large(size: int, plain: int, fails: Callable[[int], bool | None]) -> tuple[int, str, str]:
    """The least size that fails, where `plain` passes: what is said of it, and the size beside it that passes."""
    unit = next((u for u in _UNITS if fails(size + u) is not None or fails(size - u) is not None), 0)
    if not unit or (unit > 1 and not fails(size + unit)):
        return size, f"is {size}", str(plain)
    up, down = (True, False) if unit > 1 else (fails(size + 1), fails(size - 1))
    if not up and not down:
        step = _find_step(size, fails)
        if step == 0:
            return size, f"is {size}", str(size + 1)
        least = step * bisect(size // step, 0, lambda n: n == 0 or bool(fails(n * step)))
        more = "" if least == step else f" from {least} on"
        return least, f"is a multiple of {step}{more}", str(least + 1)
    whole = (size // WIDEST_TILE + 1) * WIDEST_TILE
    if (unit == 1 and fails(whole) is False) or (not up and fails(whole + 1)):
        step = next((k for k in (2, 4, 8, 16, 32, 64, 128) if fails((size // k + 1) * k) is False), WIDEST_TILE)
        odd = bisect(size // 2, plain // 2, lambda n: bool(fails(2 * n + 1))) * 2 + 1
        more = "" if odd <= step else f" from {odd} on"
        return odd, f"is no multiple of {step}{more}", str(step * (odd // step + 1))
    if not up:
        return size, f"is {size}", str(size + 1)
    least = _find_threshold(size, plain, unit, fails)
    if least <= TILE or not (_is_power(least) or _is_power(least - unit)):  # an error that grows has no edge
        return size, "is long", str(plain)
    return least, f"is {least} or more", str(least - unit)


def _is_power(n: int) -> bool:
    return n & (n - 1) == 0


def _find_step(size: int, fails: Callable[[int], bool | None]) -> int:
    """The least power of two that, added to a size it divides, gives one that fails; 0 where none does."""
    steps = (1 << k for k in range(1, size.bit_length()) if size % (1 << k) == 0)
    return next((step for step in steps if fails(size + step)), 0)


def _find_threshold(size: int, plain: int, unit: int, fails: Callable[[int], bool | None]) -> int:
    """The least size from which on it fails: past a power of two, or such a power, where that is so."""
    low, high = plain, size
    power = 1 << (size - 1).bit_length() >> 1
    while power > plain:
        if fails(power):
            high, power = power, power >> 1
        else:
            low = power
            break
    if high - low > unit and fails(low + unit):
        return low + unit
    return high if unit > 1 else bisect(high, low, lambda n: bool(fails(n)))
