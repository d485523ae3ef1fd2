"""A covering array of variants: every pair of a size, a layout, values and an option stands together in one of them.

What errs where two properties meet has no rule of its own here. Sizes are those of operators' spaces.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.axes import SizeAxis
from opproof.harness.check.variants.fills import generate_fills
from opproof.harness.check.variants.integer_inputs import find_free_places
from opproof.harness.check.variants.properties import Property, find_whole_numbers, restore_properties
from opproof.harness.check.variants.sizes import MAX_ELEMENTS, Place, Size, is_too_large, join_draws, shapes_of
from opproof.harness.check.variants.variant import LAYOUTS, Pair, Variant, apply_layout_to, has_layout, keep_properties
from opproof.harness.space.pairs import Allows, Choice, Factors, PairTable, Triple, choose_levels, triples_of

#: The level of what is as given.
GIVEN = "as given"
#: The product of the sizes that vary.
_MAX_WORK = 1 << 22
#: Those of small variants, which cost little more than any; the pairs that these cannot have are few.
_SMALL_ELEMENTS = 1 << 13
_SMALL_WORK = 1 << 16
#: Elements, and products, that take as long as a call without any.
_ELEMENTS_PER_CALL = 1 << 15
_WORK_PER_CALL = 1 << 21
#: Choices of levels of which one is taken, of small variants and of others; sizes from which on values are as given.
_CANDIDATES = 2
_LARGE_CANDIDATES = 8
_LARGE_SIZE = 4096
#: Layouts that all tensors of a model usually have, and those of one tensor alone.
_FINE = ("transposed", "exchanged", "gapped")
_APART = (*_FINE, "offset", "broadcast")
#: Axes, from the last or the first, of which none may be 1 for a layout to differ.
_ACTIVE_AXES = {
    "transposed": (-1, -2), "exchanged": (-2, -3), "gapped": (-2,), "cropped": (-3,), "channels": (1, -1),
    "broadcast": (0,),
}  # fmt: skip
#: Tensors whose layout is chosen alone; draws with other arguments.
_MAX_TENSORS = 4
_MAX_ARGUMENTS = 6
#: Drawn at random, in the end, and in how many tries one that is new.
_MAX_DRAWN = 20_000
_TRIES = 50
#: Values of integers that say which, from those drawn.
_PATTERNS: Mapping[str, Callable[[Array], Array]] = {
    "in order": np.sort,
    "in reverse order": lambda v: np.sort(v)[..., ::-1],
    "repeated": lambda v: v.flat[np.arange(v.size) // 2 % max(v.size // 4, 1)].reshape(v.shape),
    "all the last": lambda v: np.full_like(v, v.max(initial=0)),
}


@dataclass(frozen=True)
class CallSpace:
    """What varies of one form of inputs. `options`: of a number beside tensors, what is given with others instead."""

    pairs: Sequence[Pair]
    kept: Sequence[Sequence[Property]]
    axes: Sequence[SizeAxis]
    otherwise: Sequence[Variant] = ()  # draws with other arguments
    options: Mapping[str, Mapping[str, tuple[object, ...]]] = field(default_factory=dict)

    @property
    def given(self) -> tuple[CallTensor, ...]:
        return self.pairs[0][0]

    @cached_property
    def free(self) -> list[int]:
        """Positions of integers that say which, and may say another."""
        return find_free_places(self.pairs)

    @cached_property
    def sizes(self) -> dict[str, dict[str, tuple[str, int]]]:
        """Of each axis, by its level, the class and the size; all of a class along rows, unless they are large."""
        few = len(find_whole_numbers(self.given)) > len(self.free) or any(t.marks for t in self.given if not t.param)
        return {
            f"size {k}": {GIVEN: (GIVEN, axis.old)}
            | {
                str(n): (level, n)
                for level, sizes in axis.list_levels().items()
                for n in sizes[: None if self._is_last(axis) and sizes[0] < _LARGE_SIZE - 1 else 1]
                if not few or n > axis.old
            }
            for k, axis in enumerate(self.axes)
        }

    def _is_last(self, axis: SizeAxis) -> bool:
        """Whether it lies along rows in memory, whose exact size kernels are made for."""
        return any(a == len(self.given[i].shape) - 1 > 0 for i, a in axis.places)

    @cached_property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """The levels of each factor."""
        tensors = [t for t in self.given if not t.param]
        layouts = {t.name: [y for y in LAYOUTS if has_layout(t, y)] for t in tensors}
        some = {name: tuple(levels) for name, levels in self.sizes.items()}
        some["layout"] = (CONTIGUOUS, *(y for y in LAYOUTS if any(y in own for own in layouts.values())))
        some |= {
            f"layout {n}": (GIVEN, *(y for y in own if y in _APART))
            for n, own in [*layouts.items()][:_MAX_TENSORS]
            if len(layouts) > 1
        }
        some["fill"] = (GIVEN, *(fill.name for fill in generate_fills(self.given)))
        some |= {f"values {self.given[i].name}": (GIVEN, *_PATTERNS) for i in self.free}
        if self.otherwise:
            some["arguments"] = (GIVEN, *(v.name for v in self.otherwise[:_MAX_ARGUMENTS]))
        some |= {f"option {name}": (GIVEN, *levels) for name, levels in self.options.items()}
        return {name: levels for name, levels in some.items() if len(levels) > 1}

    @cached_property
    def _of_place(self) -> dict[Place, str]:
        return {p: f"size {k}" for k, axis in enumerate(self.axes) for p in axis.resize(axis.old)}

    @cached_property
    def _terms(self) -> list[tuple[int, list[str]]]:
        """Of each tensor the product of the sizes that do not vary, and the factors of the others."""
        of_place, made = self._of_place, []
        for i, t in enumerate(self.given):
            varied = [of_place[i, a] for a in range(len(t.shape)) if (i, a) in of_place]
            made.append((math.prod(n for a, n in enumerate(t.shape) if (i, a) not in of_place), varied))
        return made

    @cached_property
    def _limits(self) -> dict[bool, tuple[int, int]]:
        """Elements and work that a variant may have, where it is small and where not: those given at least."""
        own = sum(t.values.size for t in self.given), self.count_work(dict.fromkeys(self.sizes, GIVEN))
        small, large = (_SMALL_ELEMENTS, _SMALL_WORK), (MAX_ELEMENTS, _MAX_WORK)
        return {k: (max(own[0], n), max(own[1], m)) for k, (n, m) in ((True, small), (False, large))}

    def count_elements(self, choice: Choice) -> int:
        """Elements of all tensors, where what is not chosen yet is 1."""
        of = {name: self.sizes[name][level][1] for name, level in choice.items() if name in self.sizes}
        return sum(fixed * math.prod(of.get(name, 1) for name in varied) for fixed, varied in self._terms)

    def count_work(self, choice: Choice) -> int:
        """The product of the sizes that vary, or of their squares."""
        of = {name: self.sizes[name][level][1] for name, level in choice.items() if name in self.sizes}
        return math.prod(n ** (1 + self.axes[int(name[5:])].square) for name, n in of.items())

    def allows(self, choice: Choice, *, small: bool = False) -> bool:
        """Whether these levels, of some factors or of all, go together."""
        if choice.get("layout", CONTIGUOUS) != CONTIGUOUS and any(
            level != GIVEN for name, level in choice.items() if name.startswith("layout ")
        ):
            return False
        if not all(self._is_active(name, level, choice) for name, level in choice.items() if name[:6] == "layout"):
            return False
        if choice.get("arguments", GIVEN) != GIVEN and any(
            level != GIVEN for name, level in choice.items() if name.startswith("option ")
        ):
            return False
        if choice.get("fill", GIVEN) != GIVEN and self.find_longest(choice) >= _LARGE_SIZE:
            return False
        elements, work = self._limits[small]
        return self.count_elements(choice) <= elements and self.count_work(choice) <= work

    def _is_active(self, name: str, layout: str, choice: Choice) -> bool:
        """Whether a layout differs at the sizes chosen: at 1 along its axes it does not."""
        own = (i for i, t in enumerate(self.given) if name in ("layout", f"layout {t.name}") and has_layout(t, layout))
        i = next(own, None)
        if i is None or layout in (GIVEN, CONTIGUOUS):
            return True
        axes = (a % len(self.given[i].shape) for a in _ACTIVE_AXES.get(layout, ()))
        return all(choice.get(self._of_place.get((i, a), "")) != "1" for a in axes)

    def find_longest(self, choice: Choice) -> int:
        """The largest of the sizes that are others than given."""
        return max((self.sizes[n][y][1] for n, y in choice.items() if n in self.sizes and y != GIVEN), default=0)

    def cost_of(self, choice: Choice) -> float:
        """What a call costs, in those of the smallest tensors."""
        return 1 + self.count_elements(choice) / _ELEMENTS_PER_CALL + self.count_work(choice) / _WORK_PER_CALL

    def cover(self, seed: int) -> Iterator[Choice]:
        """Choices in which all pairs of levels stand together that can; small ones and large ones by turns.

        Sizes of one class stand for one another, but beside the usual layouts of all tensors, which come first.
        """
        small = partial(self.allows, small=True)
        alike = {name: levels for name, levels in self.factors.items() if not name.startswith("layout ")}
        first = self._cover(seed, alike, small, lambda _: False)
        then = self._cover(seed, self.factors, small, lambda pair: pair.keys() <= alike.keys())
        passes = [chain(first, then), self._cover(seed, self.factors, self.allows, small)]
        spent = [0.0] * len(passes)
        while passes:
            k = spent.index(min(spent))
            choice = next(passes[k], None)
            if choice is None:
                del passes[k], spent[k]
                continue
            spent[k] += self.cost_of(choice)
            yield choice

    def _cover(self, seed: int, factors: Factors, allows: Allows, covered: Allows) -> Iterator[Choice]:
        """Choices with those pairs that are allowed and not covered yet."""
        rng = random.Random(f"cover {seed}")  # noqa: S311 - draws, no secrets
        fine = [("layout", y) for y in _FINE if y in factors.get("layout", ())]
        table = PairTable(factors, allows, covered, self._find_class, fine)
        count = _LARGE_CANDIDATES if allows == self.allows else _CANDIDATES
        while (pair := table.pick_open(rng)) is not None:
            grown = [c for _ in range(count) if allows(c := table.grow(pair, rng))]
            if not grown:
                table.note_failure(pair)
                continue
            best = max(grown, key=lambda c: table.gain_of(c) / self.cost_of(c))
            table.cover(best)
            yield best

    def _find_class(self, name: str, level: str) -> object:
        return name, self.sizes[name][level][0] if name in self.sizes else level

    def draw_on(self, seed: int) -> Iterator[Choice]:
        """Choices at random, of a few the one with most triples that are new for its cost."""
        rng = random.Random(f"draw on {seed}")  # noqa: S311 - draws, no secrets
        met = set[Triple]()
        for _ in range(_MAX_DRAWN):
            some = (choose_levels(self.factors, self.allows, rng) for _ in range(_CANDIDATES + 1))
            best = max(some, key=lambda c: (1 + len(triples_of(c) - met)) / math.sqrt(self.cost_of(c)))
            met |= triples_of(best)
            if self.allows(best):
                yield best

    def name_of(self, choice: Choice) -> str:
        """How a report calls the variant."""
        said = [choice.get("arguments", GIVEN), *(y for n, y in choice.items() if n.startswith("option "))]
        new = [(axis.text, choice.get(f"size {k}", GIVEN)) for k, axis in enumerate(self.axes)]
        sizes = [f"{text} as {level}" for text, level in new if level != GIVEN]
        said += [" and ".join(sizes), choice.get("fill", GIVEN).replace(CONTIGUOUS, "")]
        for name, level in choice.items():
            kind, _, of = name.partition(" ")
            if level not in (GIVEN, CONTIGUOUS) and kind in ("layout", "values"):
                said.append(" ".join(filter(None, (of, level))))
        return ", ".join(text for text in said if text not in ("", GIVEN)) or GIVEN

    def make(self, choice: Choice) -> Variant | None:
        """The variant of these levels; None where some values cannot be so."""
        others = {v.name: v for v in self.otherwise}
        drawn = others.get(choice.get("arguments", GIVEN))
        rest = drawn and drawn.rest
        for name, levels in self.options.items():
            rest = levels.get(choice.get(f"option {name}", GIVEN), rest)
        draws = (drawn.case_data, drawn.decoy_data) if drawn else self.pairs[0]
        new = {p: m for k, axis in enumerate(self.axes) for p, m in self._resize(axis, choice.get(f"size {k}", GIVEN))}
        both = self.resize(new, choice, draws)
        if both is None:
            return None
        asked, other = both
        fill = next((f for f in generate_fills(asked) if f.name == choice.get("fill")), None)
        if fill is not None:
            asked, other = (keep_properties(t, fill.change(t), self.kept) for t in (asked, other))
        own = {t.name: choice.get(f"layout {t.name}", GIVEN) for t in asked}
        common = choice.get("layout", CONTIGUOUS)
        laid = {n: common if y == GIVEN else y for n, y in own.items()}
        asked, other = (
            tuple(apply_layout_to(t, laid[t.name], has) for t, has in zip(draw, self.kept, strict=True))
            for draw in (asked, other)
        )
        apart = ",".join(f"{n}:{y}" for n, y in own.items() if y != GIVEN)
        slug = [y for n, y in choice.items() if n.startswith(("option ", "values ", "arguments")) and y != GIVEN]
        label = "-".join([*(text.replace(" ", "-") for text in slug), *([fill.label] if fill else [])]) or "normal"
        vast = self.find_longest(choice) >= _LARGE_SIZE
        return Variant(
            self.name_of(choice), label, apart or common, asked, other, rest=rest or None, rare=True, vast=vast
        )

    def _resize(self, axis: SizeAxis, level: str) -> list[tuple[Place, int]]:
        return [] if level == GIVEN else list(axis.resize(int(level)).items())

    def resize(self, new: Mapping[Place, int], choice: Choice, draws: Pair | None = None) -> Pair | None:
        """Two draws at other sizes, each filled from the other; None where they cannot be, or would fill the memory."""
        one, more = draws or self.pairs[0]
        if is_too_large(shapes_of(one), new) or any(
            len(draw[i].shape) <= a or not draw[i].values.size for draw in (one, more) for i, a in new
        ):
            return None
        asked, other = self._change(one, more, new, choice), self._change(more, one, new, choice)
        return None if asked is None or other is None else (asked, other)

    def _change(
        self, one: Sequence[CallTensor], more: Sequence[CallTensor], new: Mapping[Place, int], choice: Choice
    ) -> tuple[CallTensor, ...] | None:
        """A draw at other sizes, filled from another, its integers within them and in their patterns."""
        joined = join_draws((one, more), Size("", "", new)) if new else tuple(one)
        made = []
        for i, (t, has) in enumerate(zip(joined, self.kept, strict=True)):
            changed = restore_properties(has, t, t.values, placed=not new) if new else t
            if i in self.free:
                change = _PATTERNS.get(choice.get(f"values {t.name}", GIVEN), np.asarray)
                changed = t.holding(change(self._point_within(t.values, one, new)))
            if changed is None:
                return None
            made.append(changed)
        return tuple(made)

    def _point_within(self, values: Array, draw: Sequence[CallTensor], new: Mapping[Place, int]) -> Array:
        """Integers that may be places of an axis, up to its new end: of the shortest that is longer than they are."""
        most = int(values.max(initial=0))
        pairs = {(draw[i].shape[a], m) for (i, a), m in new.items() if draw[i].shape[a] > most}
        if not pairs or not values.size:
            return values
        old, to = min(pairs)
        return np.where(values > 0, values * to // old if to > old else values % to, values)
