"""Options that several commands take: their values, the selection they stand for, what a shell completes after them."""

from __future__ import annotations

import functools
import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import randbelow
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from opproof.core.errors import suggest
from opproof.core.verdicts import EXHAUSTIVE, LEVELS

if TYPE_CHECKING:
    from opproof.harness.run.plan import Selection


#: Up to days, not years: a system's calls take no larger number of seconds.
MAX_SECONDS = 10**6


class Finite(click.FloatRange):
    """A number of a range, which nan is not: it is neither below nor above the ends."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Raises BadParameter."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"nan is not in the range x{'>' if self.min_open else '>='}{self.min:g}.", param, ctx)
        return number


SECONDS = Finite(min=0, min_open=True, max=MAX_SECONDS)
PATH = click.Path(path_type=Path)

#: Up to what no machine has, and a system's calls still take.
MEBIBYTES = click.IntRange(min=64, max=2**30)

_RANDOM = "random"
#: Where words lie that complete an option: a module, and what it has under a name, or gives when that is called.
OPERATORS = "opproof.reference_ops._op:names"
DTYPES = "opproof.core.dtypes:DTYPES"
_OWN = "Operators of your own: a folder or a file."


class Choice(click.Choice[str]):
    """One of several words; a word that is like one of them is told so."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """The message, with what may have been meant."""
        del ctx
        words = [str(w) for w in self.choices]
        return f"{value!r} is not one of {', '.join(map(repr, words))}{suggest(str(value), words)}"


#: Seconds of a unit of time, by its letter.
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Seconds of a text such as 90, 90s, 10m or 2h; 0 of an empty one."""
    number, unit = (value[:-1], value[-1]) if value[-1:] in UNITS else (value, "s")
    try:
        seconds = float(number or "x") * UNITS[unit] if value else 0.0
    except ValueError:
        seconds = math.nan
    if not value or 0 < seconds <= MAX_SECONDS:
        return seconds
    raise click.BadParameter(f"{value!r} is no time: expected a number of s, m or h, such as 10m.", ctx, param)


def seed(ctx: click.Context, param: click.Parameter, value: str) -> int | str:
    """The number, or the word for one to be drawn."""
    return value if value == _RANDOM else int(click.IntRange(min=0)(value, param, ctx))


def parse_counts(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    """The numbers of a comma-separated list, each at least 1 and once."""
    number = click.IntRange(min=1, max=1024)
    return tuple(dict.fromkeys(number(part.strip(), param, ctx) for part in value.split(",") if part.strip()))


def parse_invariances(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """The names of companies in which rows are evaluated, each once."""
    from opproof.harness.run.task import INVARIANCES

    known = Choice(INVARIANCES)
    return tuple(dict.fromkeys(known.convert(name, param, ctx) for name in split_values((value,))))


def parse_amounts(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """Each NAME=AMOUNT as a pair."""
    pairs = []
    for text in value:
        name, _, amount = text.partition("=")
        try:
            pairs.append((name, float(amount)))
        except ValueError:
            name = ""
        if not name:
            raise click.BadParameter(f"{text!r} is no NAME=AMOUNT; expected one such as gpu=1.", ctx, param)
    return tuple(pairs)


def parse_capabilities(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The names of vector capabilities, each once."""
    names = split_values(value)
    if value and not names:
        raise click.BadParameter("expected a capability such as avx2, or all.", ctx, param)
    return tuple(dict.fromkeys(names))


def parse_assignments(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Each NAME=VALUE,VALUE as NAME=VALUE for each of its values."""
    found: list[str] = []
    for text in value:
        name, _, values = text.partition("=")
        every = [v.strip() for v in values.split(",")]
        if not name.isidentifier() or not all(every) or any(c.isspace() for v in every for c in v):
            raise click.BadParameter(
                f"{text!r} is no NAME=VALUE,VALUE; expected a variable and values without spaces, such as "
                "GGML_CPU=avx2,avx512.",
                ctx,
                param,
            )
        found += [f"{name}={v}" for v in every]
    return tuple(dict.fromkeys(found))


def split_values(values: tuple[str, ...]) -> tuple[str, ...]:
    """Comma-separated values of a repeated option as one tuple."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def draw_seed(value: int | str) -> int:
    """The seed; one that is drawn is said aloud, so that the run can be repeated."""
    if isinstance(value, int):
        return value
    number = 1 + randbelow(2**31 - 1)
    click.echo(f"opproof: drew the seed {number}; --seed {number} instead of random repeats this run.", err=True)
    return number


def choose_cases(first: str, levels: Sequence[str] = LEVELS, **told: str) -> Callable[[Any], Any]:
    """The options that `selection_of` reads, as a decorator of commands; `told` has other words of help, by name.

    `first` is the level where none is named.
    """
    modes = click.Choice(["forward", "gradient", *(["refusal"] if EXHAUSTIVE in levels else [])])
    ops: dict[str, Any] = {"multiple": True, "metavar": "OP[,OP...]", "shell_complete": complete_words(OPERATORS)}
    dtypes: dict[str, Any] = {"multiple": True, "metavar": "f32,f16,...", "shell_complete": complete_words(DTYPES)}
    files: dict[str, Any] = {"multiple": True, "help": "The cases of a file, or of a model: opproof list models."}
    options = (
        click.option("-o", "--op", "names", help="Only these operators.", **ops),
        click.option("-k", "keyword", default="", metavar="EXPR", help="Only cases whose id matches, as pytest's -k."),
        click.option("--level", type=Choice(levels), default=first, show_default=True, help=told.get("level")),
        click.option("--mode", type=modes, help=told.get("mode", "Both by default.")),
        click.option("--dtype", "dtypes", help="Only these dtypes.", **dtypes),
        click.option("--case", "cases", multiple=True, metavar="ID", help="This case; several times for several."),
        click.option("--cases", "case_files", metavar="FILE", **files),
        click.option("--ops", "folders", multiple=True, metavar="DIR", help=_OWN),
    )
    return lambda command: functools.reduce(lambda made, option: option(made), reversed(options), command)


def selection_of(options: Mapping[str, Any], **rest: Any) -> Selection:
    """What -o, -k, --level, --mode, --dtype, --case, --cases and --ops choose; `rest` are other fields of Selection.

    Raises UsageError for a file of cases that is neither a file nor a model's name.
    """
    from opproof.cases._file import path_of
    from opproof.core.verdicts import MODES
    from opproof.harness.run.plan import Selection

    return Selection(
        ops=split_values(options["names"]),
        keyword=options["keyword"],
        level=options["level"],
        modes=(options["mode"],) if options["mode"] else MODES,
        dtypes=split_values(options["dtypes"]),
        cases=options["cases"],
        case_files=tuple(str(path_of(text)) for text in options["case_files"]),
        folders=options["folders"],
        wrong_calls=options.get("wrong_calls", False) or (options["mode"] == "refusal" and not options["cases"]),
        **rest,
    )


def complete_backends(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Backends by name, and files."""
    from opproof.backends.load import list_built_in

    del ctx, param
    if incomplete.startswith((".", "/", "~")):
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(name) for name in list_built_in() if name.startswith(incomplete)]


def complete_words(place: str) -> Callable[..., list[CompletionItem]]:
    """What completes the part behind the last comma."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        del ctx, param
        found = pkgutil.resolve_name(place)
        words = found() if callable(found) else found
        head, comma, part = incomplete.rpartition(",")
        return [CompletionItem(f"{head}{comma}{word}") for word in words if word.startswith(part)]

    return complete
