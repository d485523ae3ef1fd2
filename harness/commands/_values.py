"""Values of options that several commands take: what is a sane one."""

from __future__ import annotations

import math
from secrets import randbelow

import click

from opproof.core.errors import meant

#: Up to days, not years: a system's calls take no larger number of seconds.
SECONDS = click.FloatRange(min=0, min_open=True, max=10**6)

#: Up to what no machine has, and a system's calls still take.
MEBIBYTES = click.IntRange(min=64, max=2**30)

_RANDOM = "random"


class Choice(click.Choice[str]):
    """One of several words; a word that is like one of them is told so."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """The message, with what may have been meant."""
        del ctx
        words = [str(w) for w in self.choices]
        return f"{value!r} is not one of {', '.join(map(repr, words))}{meant(str(value), words)}"


def finite(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """The value, unless it is not a number, which is inside every range."""
    if math.isnan(value):
        raise click.BadParameter("nan is not in the range x>0: give seconds, such as 30.", ctx, param)
    return value


def seed(ctx: click.Context, param: click.Parameter, value: str) -> int | str:
    """The number, or the word for one to be drawn."""
    return value if value == _RANDOM else int(click.IntRange(min=0)(value, param, ctx))


def counts(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    """The numbers of a comma-separated list, each at least 1 and once."""
    number = click.IntRange(min=1, max=1024)
    return tuple(dict.fromkeys(number(part.strip(), param, ctx) for part in value.split(",") if part.strip()))


def amounts(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
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


def capabilities(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The names of vector capabilities, each once."""
    names = listed(value)
    if value and not names:
        raise click.BadParameter("expected a capability such as avx2, or all.", ctx, param)
    return tuple(dict.fromkeys(names))


def assignments(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
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


def listed(values: tuple[str, ...]) -> tuple[str, ...]:
    """Comma-separated values of a repeated option as one tuple."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def drawn(value: int | str) -> int:
    """The seed; one that is drawn is said aloud, so that the run can be repeated."""
    if isinstance(value, int):
        return value
    number = 1 + randbelow(2**31 - 1)
    click.echo(f"opproof: drew the seed {number}; --seed {number} instead of random repeats this run.", err=True)
    return number
